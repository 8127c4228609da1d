"""An optimizer that holds the parameters of a network that was replaced."""

from __future__ import annotations

from trueline.checks.bench_script.claim import Claim
from trueline.script.diff.subject import Subject

CLAIMS = (Claim(Subject.STALE_PARAMETERS),)
