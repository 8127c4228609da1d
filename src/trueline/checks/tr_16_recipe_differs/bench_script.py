"""Another optimizer setting, clipping, augmentation or set of frozen parameters."""

from __future__ import annotations

from trueline.checks.bench_script.claim import Claim
from trueline.script.diff.subject import Subject

CLAIMS = (Claim(Subject.UPDATE), Claim(Subject.AUGMENTATION), Claim(Subject.FROZEN_PARAMETERS))
