"""What counts as equal: the benchmark's measured noise, else an estimate, or the tolerance a user gave."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trueline.compare.measure import ATOL, RTOL
from trueline.compare.noise import kept_floor, loss_band, tensor_floor
from trueline.model.distance import Distance
from trueline.model.key import Key, Kind
from trueline.model.noise import Noise

# A measured floor is at least so many times the estimated one of the operator alone.
_MIN_FLOOR_FACTOR: Final = 2.0


class Basis(StrEnum):
    """Where a floor comes from."""

    MEASURED = "measured"
    ESTIMATED = "estimated"
    GIVEN = "given"


@dataclass(frozen=True, slots=True)
class Floor:
    """How far apart noise may bring a pair, relative to its scale."""

    value: float
    basis: Basis


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tensor stands in its network: what an estimate needs; a weight file's are not ``computed``."""

    key: Key
    step: int = 0
    depth: int = 0
    reduction: int = 1
    coarsest: float = 0.0
    computed: bool = True


@dataclass(frozen=True, slots=True)
class Floors:
    """The floors of one comparison."""

    noise: Noise | None = None
    rtol: float | None = None
    atol: float | None = None

    @property
    def given(self) -> bool:
        """Whether a user's tolerance decides."""
        return self.rtol is not None or self.atol is not None

    @property
    def tolerance(self) -> tuple[float, float]:
        """The tolerance to count elements with."""
        if not self.given:
            return RTOL, ATOL
        return self.rtol or 0.0, self.atol or 0.0

    def of(self, place: Place, dtypes: tuple[str, str], scale: float, *, switched: bool = True) -> Floor:
        """A tensor's floor; ``scale`` is the benchmark's largest value, ``switched`` whether branches may have."""
        if self.given:
            rtol, atol = self.tolerance
            return Floor(rtol + atol / scale if scale else rtol, Basis.GIVEN)
        noise = self.noise
        measured = noise.floor(place.key, place.step, switched=switched) if noise is not None else None
        if measured is not None:
            # A library's kernel that no try has used may round a little further, a long sum a good deal.
            depth = place.depth if place.key.kind is Kind.GRAD else 0
            least = _MIN_FLOOR_FACTOR * tensor_floor(dtypes, depth, reduction=place.reduction, coarsest=place.coarsest)
            return Floor(max(measured, least), Basis.MEASURED)
        if not place.computed:
            return Floor(kept_floor(dtypes), Basis.ESTIMATED)
        floor = tensor_floor(dtypes, place.depth, place.step, place.reduction, place.coarsest)
        return Floor(floor, Basis.ESTIMATED)

    def exceeded(self, level: float, floor: Floor, found: Distance) -> bool:
        """Whether noise does not explain a distance."""
        if not found.comparable or found.other_non_finite:
            return True
        if floor.basis is Basis.GIVEN and found.within == found.within:
            return found.within < 1.0
        return level > floor.value

    def loss(self, step: int, value: float, start: float, dtype: str) -> tuple[float, Basis]:
        """How far from the benchmark's value a loss may lie."""
        if self.given:
            rtol, atol = self.tolerance
            return atol + rtol * abs(value), Basis.GIVEN
        measured = self.noise.loss_band(step) if self.noise is not None else None
        if measured is not None:
            return measured, Basis.MEASURED
        return loss_band(step, value, start, dtype), Basis.ESTIMATED
