"""Inputs that are scaled in another way."""

from __future__ import annotations

from trueline.checks.bench_script.claim import Claim
from trueline.script.diff.subject import Subject

CLAIMS = (
    Claim(Subject.INPUT_SCALE),
    # What is done to all samples is one fault, not two.
    Claim(Subject.EVALUATION_SCALE, beside=frozenset({Subject.INPUT_SCALE})),
)
