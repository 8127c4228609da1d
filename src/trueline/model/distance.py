"""Two tensors' numbers."""

from __future__ import annotations

from dataclasses import dataclass

from trueline.model.numbers import encode


@dataclass(frozen=True, slots=True)
class Distance:
    """What one pass over two tensors tells; ``b`` is the benchmark.

    The numbers speak of the elements that are finite on both sides. An element that is NaN on both
    sides, or the same Inf on both, agrees (``same_non_finite``); any other non-finite element
    disagrees (``other_non_finite``). ``within`` is the share of all elements that agree within the
    tolerance. Where shapes differ nothing else was measured: ``comparable``
    is False and the numbers are zero.
    """

    count: int
    max_abs: float
    mean_abs: float
    max_ref: float
    relative_max: float
    relative_l2: float
    cosine: float
    within: float
    equal: int
    worst_index: tuple[int, ...] | None
    non_finite_a: int
    non_finite_b: int
    same_non_finite: int
    other_non_finite: int
    shape_a: tuple[int, ...]
    shape_b: tuple[int, ...]
    dtype_a: str
    dtype_b: str
    comparable: bool = True

    @property
    def identical(self) -> bool:
        """Every element has the same value on both sides."""
        return self.comparable and self.equal + self.same_non_finite == self.count

    def to_json(self) -> dict[str, object]:
        """The JSON shape."""
        return {
            "count": self.count,
            "max_abs": encode(self.max_abs),
            "mean_abs": encode(self.mean_abs),
            "max_ref": encode(self.max_ref),
            "relative_max": encode(self.relative_max),
            "relative_l2": encode(self.relative_l2),
            "cosine": encode(self.cosine),
            "within": encode(self.within),
            "equal": self.equal,
            "worst_index": list(self.worst_index) if self.worst_index is not None else None,
            "non_finite": [self.non_finite_a, self.non_finite_b],
            "same_non_finite": self.same_non_finite,
            "other_non_finite": self.other_non_finite,
            "shape": [list(self.shape_a), list(self.shape_b)],
            "dtype": [self.dtype_a, self.dtype_b],
            "comparable": self.comparable,
        }
