"""One array to its Summary."""

from __future__ import annotations

import math

import numpy as np

from trueline.kernel.backend import current
from trueline.kernel.chunks import Parts
from trueline.kernel.dtypes import Kind, kind_of
from trueline.kernel.scaling import needs_scaling, power_of_two
from trueline.model.summary import Summary

_DOUBLES = (int(Kind.F64), int(Kind.C128))


def summarise(x: object, *, threads: int | None = None) -> Summary:
    """Every number of a Summary in one pass over memory."""
    if type(x) is not np.ndarray and not isinstance(x, Parts):
        x = np.asarray(x)
    kind = kind_of(x.dtype)
    finite, nan, pos_inf, neg_inf, zeros, low, high, mean, m2, abs_sum, fingerprint = current().summary_state(
        x, kind, 1.0, threads
    )
    abs_mean = std = l2 = 0.0
    if finite:
        scale = 1.0
        if kind in _DOUBLES and needs_scaling(max(-low, high)):
            scale = power_of_two(max(-low, high))
            *_, mean, m2, abs_sum, fingerprint = current().summary_state(x, kind, scale, threads)
        abs_mean = abs_sum / finite / scale
        std = math.sqrt(m2 / finite) / scale
        l2 = math.sqrt(m2 + finite * mean * mean) / scale
        mean /= scale
    return Summary(x.size, nan, pos_inf, neg_inf, zeros, low, high, mean, abs_mean, std, l2, fingerprint)
