"""Evaluation on samples of the training set."""

from __future__ import annotations

from trueline.checks.bench_script.claim import Claim
from trueline.script.diff.subject import Subject

CLAIMS = (
    Claim(Subject.HELD_OUT_SAMPLES),
    # Both sets are drawn by what differs: one fault, not two.
    Claim(Subject.DRAWN_SAMPLES, beside=frozenset({Subject.HELD_OUT_SAMPLES})),
)
