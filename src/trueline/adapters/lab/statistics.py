"""What is told of random numbers: arrays that two frameworks agree in within a few hundredths of the largest number."""

from __future__ import annotations

from typing import Final

import numpy as np

from trueline.adapters.lab.call import Answer
from trueline.kernel.array import Array

FORM: Final = "statistic"
_GROUPS: Final = 8
# Of the sorted numbers at either end: their extremes are chance.
_TRIMMED: Final = 0.02


def distributed(found: Array) -> Answer:
    """The means of eight groups of the sorted numbers, smallest to largest, and the share of zeros."""
    ordered = np.sort(found.astype(np.float64), axis=None)
    cut = int(ordered.size * _TRIMMED)
    groups = np.array_split(ordered[cut : ordered.size - cut], _GROUPS)
    return Answer([np.asarray([group.mean() for group in groups]), np.asarray((found == 0).mean())], [FORM, FORM])


def dropped(found: Array) -> Answer:
    """Share of zeros, mean, spread, and the share of channels that are zero as a whole, of a random layer's output."""
    channels = found.reshape(found.shape[0] * found.shape[1], -1) if found.ndim > 2 else found.reshape(-1, 1)
    numbers = [(found == 0).mean(), found.mean(), found.std(), (channels == 0).all(1).mean()]
    return Answer([np.asarray(numbers)], [FORM])
