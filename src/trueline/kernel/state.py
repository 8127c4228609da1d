"""What a backend hands back before it is finished into the model's nouns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueline.kernel.array import Array
from trueline.kernel.chunks import Elements

# A SummaryState as a plain tuple: the native code's path for small tensors has no time to make more of it.
SummaryNumbers: TypeAlias = tuple[int, int, int, int, int, float, float, float, float, float, int]


class SummaryState(NamedTuple):
    """One array's counts and sums over its finite elements, in the native struct's order."""

    finite: int
    nan: int
    pos_inf: int
    neg_inf: int
    zeros: int
    minimum: float
    maximum: float
    mean: float
    m2: float
    abs_sum: float
    fingerprint: int


class DistanceState(NamedTuple):
    """Two arrays' counts and sums over the pairs finite on both sides, in the native struct's order."""

    comparable: int
    non_finite_a: int
    non_finite_b: int
    same: int
    other: int
    equal: int
    within: int
    worst: int
    max_abs: float
    sum_abs: float
    sum_dd: float
    sum_aa: float
    sum_bb: float
    sum_ab: float
    max_a: float
    max_b: float


class Tolerance(NamedTuple):
    """When a pair is within; with ``scale_d`` the sums are taken of scaled numbers."""

    rtol: float
    atol: float
    scale_a: float = 1.0
    scale_b: float = 1.0
    scale_d: float = 0.0


@dataclass(frozen=True, slots=True)
class RowStats:
    """A batch's numbers, row by row, named as in SampleField."""

    fingerprints: NDArray[np.uint64]
    mean: NDArray[np.float32]
    std: NDArray[np.float32]
    minimum: NDArray[np.float32]
    maximum: NDArray[np.float32]


class Backend(Protocol):
    """What native code and twin both do; arrays may lie in memory in any way."""

    def summary_state(self, x: Elements, kind: int, scale: float, threads: int | None) -> SummaryNumbers:
        """One array's numbers; the finite elements count times ``scale``."""

    def distance_state(
        self, a: Elements, kind_a: int, b: Elements, kind_b: int, by: Tolerance, threads: int | None
    ) -> DistanceState:
        """Two arrays' numbers, element by element in C order."""

    def fingerprint(self, x: Elements, kind: int, threads: int | None) -> int:
        """The fingerprint alone."""

    def describe_rows(self, x: Array, kind: int) -> RowStats:
        """Every row's numbers."""
