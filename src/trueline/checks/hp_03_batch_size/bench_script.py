"""A batch much larger than the benchmark's."""

from __future__ import annotations

from typing import Final

from trueline.checks.bench_script.claim import Claim
from trueline.script.diff.difference import Difference
from trueline.script.diff.subject import Subject

# The batch is so many times the benchmark's; a smaller one is no fault.
MIN_RATIO: Final = 2.0


def _is_larger(difference: Difference) -> bool:
    mine, bench = difference.numbers or (1.0, 1.0)
    return mine >= MIN_RATIO * bench


CLAIMS = (
    Claim(Subject.BATCH_SIZE, when=_is_larger),
    Claim(Subject.FULL_BATCH),
)
