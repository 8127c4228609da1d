"""One tensor's numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from trueline.model.fields import need, number
from trueline.model.numbers import encode


@dataclass(frozen=True, slots=True)
class Summary:
    """What one pass over a tensor tells.

    ``minimum`` to ``l2`` speak of the finite elements only, and are 0 where there are none;
    ``std`` is the population's. Complex numbers count by their absolute value. ``fingerprint``
    is a 64-bit hash of shape-less content: equal bytes of equal dtype give equal fingerprints.
    """

    count: int
    nan: int
    pos_inf: int
    neg_inf: int
    zeros: int
    minimum: float
    maximum: float
    mean: float
    abs_mean: float
    std: float
    l2: float
    fingerprint: int

    @property
    def non_finite(self) -> int:
        """How many elements are NaN or Inf."""
        return self.nan + self.pos_inf + self.neg_inf

    @property
    def zero_share(self) -> float:
        """The share of zeros, 0 for an empty tensor."""
        return self.zeros / self.count if self.count else 0.0

    def to_json(self) -> dict[str, object]:
        """The JSON shape."""
        return {
            "count": self.count,
            "nan": self.nan,
            "pos_inf": self.pos_inf,
            "neg_inf": self.neg_inf,
            "zeros": self.zeros,
            "min": encode(self.minimum),
            "max": encode(self.maximum),
            "mean": encode(self.mean),
            "abs_mean": encode(self.abs_mean),
            "std": encode(self.std),
            "l2": encode(self.l2),
            "fingerprint": f"{self.fingerprint:016x}",
        }

    @classmethod
    def from_json(cls, found: object) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        return cls(
            count=need(found, "count", int),
            nan=need(found, "nan", int),
            pos_inf=need(found, "pos_inf", int),
            neg_inf=need(found, "neg_inf", int),
            zeros=need(found, "zeros", int),
            minimum=number(found, "min"),
            maximum=number(found, "max"),
            mean=number(found, "mean"),
            abs_mean=number(found, "abs_mean"),
            std=number(found, "std"),
            l2=number(found, "l2"),
            fingerprint=int(need(found, "fingerprint", str), 16),
        )
