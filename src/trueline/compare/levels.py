"""How far apart two tensors are, as one number relative to the benchmark's scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final

from trueline.model.distance import Distance
from trueline.model.key import Key, Kind

BACKWARD: Final = frozenset({Kind.GIN, Kind.GOUT, Kind.GRAD})
# Only what is kept may lie in another layout: what a layer is given and gives has the shape that it has.
KEPT: Final = frozenset({Kind.PARAM, Kind.GRAD, Kind.BUFFER, Kind.OPT})
# A gradient that is zero but for rounding (a bias before BatchNorm) has no scale of its own: it is judged by these
# shares of its module's largest gradient, and of the step's.
_OF_MODULE: Final = 0.1
_OF_STEP: Final = 1e-3


def levels(distances: Iterable[tuple[Key, Distance]]) -> dict[Key, float]:
    """The level of each pair of one step: infinite where shapes, NaN or Inf do not agree."""
    found = dict(distances)
    least = _least_scales(found)
    return {key: _level(distance, least.get(key, 0.0)) for key, distance in found.items()}


def _least_scales(distances: Mapping[Key, Distance]) -> dict[Key, float]:
    gradients = {key: distance for key, distance in distances.items() if key.kind in BACKWARD}
    largest = max((distance.max_ref for distance in gradients.values()), default=0.0)
    of_module: dict[str, float] = {}
    for key, distance in gradients.items():
        if key.kind is Kind.GRAD:
            of_module[key.module] = max(of_module.get(key.module, 0.0), distance.max_ref)
    return {
        key: max(_OF_STEP * largest, _OF_MODULE * of_module.get(key.module, 0.0) if key.kind is Kind.GRAD else 0.0)
        for key in gradients
    }


def _level(found: Distance, least_scale: float) -> float:
    if not found.comparable or found.other_non_finite:
        return math.inf
    if found.max_ref < least_scale:
        return found.max_abs / least_scale
    return max(found.relative_max, found.relative_l2)
