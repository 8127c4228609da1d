"""Another loss scale."""

from __future__ import annotations

from trueline.checks.bench_script.claim import Claim
from trueline.script.diff.subject import Subject

CLAIMS = (Claim(Subject.LOSS_SCALE),)
