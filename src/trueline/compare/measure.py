"""Two tensors to their Distance, wherever their elements lie."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from trueline.compare.align import Layout
from trueline.formats.stored import Stored
from trueline.kernel import Parts, distance, pieces
from trueline.kernel.array import Array
from trueline.model.distance import Distance

RTOL: Final = 1e-5
ATOL: Final = 1e-8
_AT_ONCE: Final = 1 << 20
_NUMBERS: Final = ("min", "max", "mean", "l2", "non_finite")


@dataclass(frozen=True, slots=True)
class Task:
    """Two stored arrays to be measured; picklable, so that any executor can take it."""

    a: Stored
    b: Stored
    layout: Layout = Layout.SAME
    rtol: float = RTOL
    atol: float = ATOL
    threads: int | None = None

    @property
    def nbytes(self) -> int:
        """What it reads."""
        return self.a.nbytes + self.b.nbytes

    def run(self) -> Distance:
        """Measure."""
        # What is turned has to be whole, and then its reader says what that may cost.
        turned = self.layout is Layout.TRANSPOSED
        return measure(
            self.a.array() if turned else self.a.elements(),
            self.b.elements(),
            layout=self.layout,
            rtol=self.rtol,
            atol=self.atol,
            threads=self.threads,
        )


def measure(
    here: Array | Parts,
    there: Array | Parts,
    *,
    layout: Layout = Layout.SAME,
    rtol: float = RTOL,
    atol: float = ATOL,
    threads: int | None = None,
) -> Distance:
    """The distance of two tensors; sides of length 1 are not a difference in shape."""
    names = {"dtype_a": str(here.dtype), "dtype_b": str(there.dtype)}
    if layout is Layout.TRANSPOSED:
        here = _whole(here).T
    if here.shape != there.shape and _without_ones(here.shape) == _without_ones(there.shape):
        here = replace(here, shape=there.shape) if isinstance(here, Parts) else np.reshape(here, there.shape)
    found = distance(measurable(here), measurable(there), rtol, atol, threads=threads)
    return replace(found, **names)  # type: ignore[arg-type]


def _whole(x: Array | Parts) -> Array:
    if not isinstance(x, Parts):
        return x
    whole: Array = np.concatenate([np.array(part) for part in x.open()] or [np.zeros(0, x.dtype)])
    return whole.reshape(x.shape)


def measurable(x: Array | Parts) -> Array | Parts:
    """The array as a type that the kernel reads: the 8-bit floats all fit into float32."""
    if not str(x.dtype).startswith("float8"):
        return x
    return Parts(x.shape, np.dtype(np.float32), lambda: _widened(pieces(x, _AT_ONCE)))


def _widened(parts: Iterator[Array]) -> Iterator[Array]:
    for part in parts:
        yield part.astype(np.float32)


def _without_ones(shape: Iterable[int]) -> list[int]:
    return [side for side in shape if side != 1]


def distance_of_numbers(
    a: Mapping[str, float],
    b: Mapping[str, float],
    shapes: tuple[tuple[int, ...], tuple[int, ...]],
    dtypes: tuple[str, str],
) -> Distance:
    """What the numbers of two tensors (min, max, mean, l2) tell of their distance: what they do not is NaN."""
    comparable = _without_ones(shapes[0]) == _without_ones(shapes[1])
    both = [name for name in _NUMBERS if name in a and name in b]
    finite = [name for name in both if name != "non_finite" and math.isfinite(a[name]) and math.isfinite(b[name])]
    odd = [name for name in both if name not in finite or name == "non_finite"]
    apart = [name for name in odd if not (a[name] == b[name] or (math.isnan(a[name]) and math.isnan(b[name])))]
    scale = max((abs(b[name]) for name in finite if name != "l2"), default=0.0)
    gap = max((abs(a[name] - b[name]) for name in finite if name != "l2"), default=0.0)
    l2_gap = abs(a["l2"] - b["l2"]) if "l2" in finite else gap
    l2 = abs(b["l2"]) if "l2" in finite else scale
    same = not gap and not l2_gap and not apart
    return Distance(
        count=0 if same else 1,
        max_abs=gap,
        mean_abs=math.nan,
        max_ref=scale,
        relative_max=_ratio(gap, scale),
        relative_l2=_ratio(l2_gap, l2),
        cosine=math.nan,
        within=math.nan,
        equal=0,
        worst_index=None,
        non_finite_a=sum(not math.isfinite(a[name]) for name in both),
        non_finite_b=sum(not math.isfinite(b[name]) for name in both),
        same_non_finite=0,
        other_non_finite=len(apart),
        shape_a=shapes[0],
        shape_b=shapes[1],
        dtype_a=dtypes[0],
        dtype_b=dtypes[1],
        comparable=comparable,
    )


def _ratio(gap: float, scale: float) -> float:
    if not scale:
        return math.inf if gap else 0.0
    return gap / scale
