"""Two arrays to their Distance."""

from __future__ import annotations

import math

import numpy as np

from trueline.kernel.backend import current
from trueline.kernel.chunks import Parts
from trueline.kernel.dtypes import NAMES, Kind, kind_of
from trueline.kernel.scaling import needs_scaling, power_of_two
from trueline.kernel.state import Tolerance
from trueline.model.distance import Distance

_DOUBLES = (int(Kind.F64), int(Kind.C128))


def distance(a: object, b: object, rtol: float = 1e-5, atol: float = 1e-8, *, threads: int | None = None) -> Distance:
    """Every number of a Distance in one pass over memory, of arrays or Parts; ``b`` is the benchmark."""
    a, b = (parts if isinstance(parts, Parts) else np.asarray(parts) for parts in (a, b))
    kind_a, kind_b = kind_of(a.dtype), kind_of(b.dtype)
    if a.shape != b.shape:
        return _incomparable(a.shape, b.shape, NAMES[kind_a], NAMES[kind_b])
    plain = Tolerance(rtol, atol)
    found = sums = current().distance_state(a, kind_a, b, kind_b, plain, threads)
    by = Tolerance(rtol, atol, 1.0, 1.0, 1.0)
    if (kind_a in _DOUBLES or kind_b in _DOUBLES) and any(
        needs_scaling(largest) for largest in (found.max_a, found.max_b, found.max_abs)
    ):
        by = Tolerance(rtol, atol, *(power_of_two(one) for one in (found.max_a, found.max_b, found.max_abs)))
        sums = current().distance_state(a, kind_a, b, kind_b, by, threads)
    return Distance(
        count=a.size,
        max_abs=found.max_abs,
        mean_abs=sums.sum_abs / found.comparable / by.scale_d if found.comparable else 0.0,
        max_ref=found.max_b,
        relative_max=_relative(sums.max_abs, found.max_b * by.scale_b, by),
        relative_l2=_relative(math.sqrt(sums.sum_dd), math.sqrt(sums.sum_bb), by),
        cosine=_cosine(sums.sum_aa, sums.sum_bb, sums.sum_ab),
        within=(found.within + found.same) / a.size if a.size else 1.0,
        equal=found.equal,
        worst_index=tuple(int(signedinteger) for signedinteger in np.unravel_index(found.worst, a.shape))
        if found.worst >= 0
        else None,
        non_finite_a=found.non_finite_a,
        non_finite_b=found.non_finite_b,
        same_non_finite=found.same,
        other_non_finite=found.other,
        shape_a=a.shape,
        shape_b=b.shape,
        dtype_a=NAMES[kind_a],
        dtype_b=NAMES[kind_b],
    )


def _relative(apart: float, reference: float, by: Tolerance) -> float:
    if reference == 0.0:
        return math.inf if apart else 0.0
    return apart / reference * (by.scale_b / by.scale_d)


def _cosine(aa: float, bb: float, ab: float) -> float:
    if aa == 0.0 or bb == 0.0:
        return 1.0 if aa == bb else 0.0
    return max(-1.0, min(1.0, ab / math.sqrt(aa * bb)))


def _incomparable(shape_a: tuple[int, ...], shape_b: tuple[int, ...], dtype_a: str, dtype_b: str) -> Distance:
    return Distance(
        count=0,
        max_abs=0.0,
        mean_abs=0.0,
        max_ref=0.0,
        relative_max=0.0,
        relative_l2=0.0,
        cosine=0.0,
        within=0.0,
        equal=0,
        worst_index=None,
        non_finite_a=0,
        non_finite_b=0,
        same_non_finite=0,
        other_non_finite=0,
        shape_a=shape_a,
        shape_b=shape_b,
        dtype_a=dtype_a,
        dtype_b=dtype_b,
        comparable=False,
    )
