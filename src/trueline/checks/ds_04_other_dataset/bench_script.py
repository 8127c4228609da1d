"""Samples of another dataset, or another part of it."""

from __future__ import annotations

from trueline.checks.bench_script.claim import Claim
from trueline.script.diff.subject import Subject

CLAIMS = (
    Claim(Subject.SAMPLES),
    Claim(Subject.DRAWN_SAMPLES, unless=frozenset({Subject.HELD_OUT_SAMPLES})),
)
