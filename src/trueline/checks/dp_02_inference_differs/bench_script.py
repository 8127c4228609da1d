"""Inputs that are prepared in another way in evaluation alone."""

from __future__ import annotations

from trueline.checks.bench_script.claim import Claim
from trueline.script.diff.subject import Subject

CLAIMS = (
    Claim(Subject.EVALUATION_AUGMENTATION),
    Claim(Subject.EVALUATION_SCALE, unless=frozenset({Subject.INPUT_SCALE})),
)
