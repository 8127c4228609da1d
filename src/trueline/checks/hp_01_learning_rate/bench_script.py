"""Another learning rate, far from the benchmark's."""

from __future__ import annotations

from typing import Final

from trueline.checks.bench_script.claim import Claim
from trueline.script.diff.difference import Difference
from trueline.script.diff.subject import Subject

# The lower or the higher rate is so many times the other: less is tuning.
MIN_RATIO: Final = 3.0


def _is_far(difference: Difference) -> bool:
    mine, bench = (abs(number) for number in difference.numbers or (1.0, 1.0))
    return max(mine, bench) >= MIN_RATIO * min(mine, bench)


CLAIMS = (Claim(Subject.LEARNING_RATE, when=_is_far),)
