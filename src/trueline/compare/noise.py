"""How far apart rounding alone may bring two runs: estimates, until this network's own floor is measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

# Units in the last place that two libraries' kernels may differ by at the first layer, relative to a tensor's largest.
_KERNEL_ULPS: Final = 64
# A sum of many products rounds with the square root of their number: beyond 1024 of them more than the above.
_SUM_ULPS: Final = 2
# Two frameworks' first losses lie 1e-6 apart (float32); the band begins ten times wider.
_LOSS_ULPS: Final = 84
# Steps in which rounding noise grows tenfold: between 3 and 10 were seen in equal pairs of real networks.
_STEPS_PER_DECADE: Final = 4
# Short floats are summed up in float32: what is left is their own rounding, layer by layer.
_SHORT_FLOAT_EPSILON: Final = 1e-5
_SHORT_ULPS: Final = 8
_KEPT_ULPS: Final = 16
_WIDEST_FLOOR: Final = 0.1
_WIDEST_BAND: Final = 0.5
# A loss close to 0 is judged by this share of where the curve began: its own size says nothing any more.
_SMALLEST_SCALE: Final = 0.1

_EPSILON: Final[Mapping[str, float]] = {
    "float64": 2.0**-52,
    "float32": 2.0**-23,
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "complex64": 2.0**-23,
    "complex128": 2.0**-52,
}


def epsilon(dtype: str) -> float:
    """The rounding unit of a dtype; 0 for whole numbers, which do not round."""
    if dtype in _EPSILON:
        return _EPSILON[dtype]
    return 2.0**-2 if dtype.startswith("float8") else 0.0


def growth(step: int) -> float:
    """How much wider noise may be at a step than at the first."""
    return math.pow(10.0, min(step / _STEPS_PER_DECADE, 30.0))


def tensor_floor(
    dtypes: tuple[str, str], depth: int, step: int = 0, reduction: int = 1, coarsest: float = 0.0
) -> float:
    """What counts as equal for a tensor after ``depth`` layers, whose longest sum has ``reduction`` terms.

    ``coarsest`` is the rounding unit of the coarsest dtype on the way to it: what was rounded stays so.
    """
    one = unit(dtypes)
    one = max(one, coarsest) if one else one
    ulps = _SHORT_ULPS if one > _SHORT_FLOAT_EPSILON else max(_KERNEL_ULPS, _SUM_ULPS * math.sqrt(reduction))
    return min(_WIDEST_FLOOR, ulps * one * math.sqrt(1 + depth) * growth(step))


def kept_floor(dtypes: tuple[str, str]) -> float:
    """What counts as equal for a tensor that no kernel has touched: the rounding of a conversion, a little more."""
    one = unit(dtypes)
    return one if one > _SHORT_FLOAT_EPSILON else _KEPT_ULPS * one


def unit(dtypes: tuple[str, str]) -> float:
    """The rounding unit of the coarser of two dtypes."""
    return max(epsilon(dtypes[0]), epsilon(dtypes[1]))


def loss_band(step: int, value: float, start: float, dtype: str = "float32") -> float:
    """How far from the benchmark's ``value`` a loss may lie at a step; ``start`` is the curve's first finite value."""
    return min(widest_band(value, start), _scale(value, start) * _LOSS_ULPS * epsilon(dtype) * growth(step))


def widest_band(value: float, start: float) -> float:
    """As wide as the band gets."""
    return _WIDEST_BAND * _scale(value, start)


def _scale(value: float, start: float) -> float:
    return max(abs(value), _SMALLEST_SCALE * abs(start))
