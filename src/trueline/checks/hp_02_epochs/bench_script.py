"""Another number of epochs, far from the benchmark's."""

from __future__ import annotations

from typing import Final

from trueline.checks.bench_script.claim import Claim
from trueline.script.diff.difference import Difference
from trueline.script.diff.subject import Subject

# One training is so many times as long as the other: less may be early stopping.
MIN_RATIO: Final = 2.0


def _is_far(difference: Difference) -> bool:
    mine, bench = difference.numbers or (1.0, 1.0)
    return bench > 0 and not 1 / MIN_RATIO < mine / bench < MIN_RATIO


CLAIMS = (Claim(Subject.EPOCHS, when=_is_far),)
