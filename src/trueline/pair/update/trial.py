"""Weights and gradients that show what an optimizer does: ordinary ones, none at all, and ones near its eps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.update.fit import Trial

# Not small, so that decay shows in single precision; and not all alike, so that it shows what the rate is part of.
RATES: Final = (0.5, 0.5, 0.25, 0.25, 0.5, 0.5)
MOST: Final = 32
_LATE: Final = 3
# From where to where gradients lie, as powers of ten; None is zero. Elements take turns.
_SIZES: Final = ((-2, 0), None, (-4, -2), (-9, -7), (-3, -1), (-2, 0), (0, 2), (-7, -5))
_STARTS_LATE: Final = 5
_TINY: Final = (3, 7)


def make_trial(counts: Sequence[int], dtypes: Sequence[str], seed: int = 0) -> Trial:
    """A trial for parameters of which so many elements count; the same for the same seed."""
    random = np.random.default_rng(seed)
    total = sum(counts)
    turns = np.concatenate([np.arange(count) % len(_SIZES) for count in counts]) if counts else np.zeros(0, np.intp)
    low = np.array([one[0] if one is not None else 0 for one in _SIZES], np.float64)[turns]
    high = np.array([one[1] if one is not None else 0 for one in _SIZES], np.float64)[turns]
    shape = (len(RATES), total)
    # A size for each element, and from step to step up to twice or half of it.
    sizes = 10.0 ** (random.uniform(low, high, total) + random.uniform(-0.3, 0.3, shape))
    gradients = sizes * _signs(random, shape)
    gradients[:, turns == _SIZES.index(None)] = 0.0
    gradients[:_LATE, turns == _STARTS_LATE] = 0.0
    weights = random.uniform(0.2, 1.0, total) * _signs(random, (total,))
    cuts = [0, *np.cumsum(counts).tolist()]
    return Trial(weights.astype(np.float32), gradients.astype(np.float32), RATES, cuts, dtypes, np.isin(turns, _TINY))


def _signs(random: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return np.where(random.random(shape) < 0.5, -1.0, 1.0)
