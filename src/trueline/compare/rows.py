"""What a comparison of tensors works on and gives: tensors, rows, and the rows of one step, file or dump."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from trueline.compare.align import Alignment, Pair
from trueline.compare.floors import Basis, Floor
from trueline.compare.verdict import Verdict
from trueline.formats.stored import Stored
from trueline.model.distance import Distance
from trueline.model.key import Key
from trueline.model.run import CallInfo


@dataclass(frozen=True, slots=True)
class Tensor:
    """One side's tensor: its elements, or where those were not kept its numbers (min, max, mean, l2)."""

    key: Key
    name: str
    shape: tuple[int, ...]
    dtype: str
    stored: Stored | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    fingerprint: int | None = None

    @property
    def count(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Network:
    """What is known of one side's network beyond its tensors."""

    types: Mapping[str, str] = field(default_factory=dict)
    calls: Sequence[CallInfo] = ()
    reductions: Mapping[str, int] = field(default_factory=dict)

    def depths(self) -> dict[tuple[str, str, int], int]:
        """How many calls came before each call, by phase, path and number."""
        seen: dict[str, int] = {}
        depths: dict[tuple[str, str, int], int] = {}
        for call in self.calls:
            seen[call.phase] = seen.get(call.phase, -1) + 1
            depths[call.phase, call.path, call.call] = seen[call.phase]
        return depths


@dataclass(frozen=True, slots=True)
class Row:
    """A pair: ``level`` is their distance relative to the benchmark's scale, ``floor`` what noise explains."""

    pair: Pair
    a: Tensor
    b: Tensor
    distance: Distance
    level: float
    floor: Floor
    differs: bool
    by_numbers: bool = False

    @property
    def verdict(self) -> Verdict:
        """Of this pair."""
        if self.differs:
            return Verdict.DIFFERS
        return Verdict.EQUAL if self.distance.identical else Verdict.NOISE

    @property
    def times(self) -> float:
        """How many times the floor the distance is."""
        return self.level / self.floor.value if self.floor.value else math.inf if self.level else 0.0


@dataclass(frozen=True, slots=True)
class Tensors:
    """Rows in the benchmark's order; ``inputs_agree`` is None where the inputs of the ``first`` were not recorded.

    ``switched`` says that rounding alone has sent an element down another branch, a ReLU's at zero: what comes later is
    further apart for it. ``seen`` is how far such a switch has brought tensors apart where no noise was measured.
    """

    step: int
    a: Sequence[Tensor]
    b: Sequence[Tensor]
    rows: Sequence[Row]
    alignment: Alignment
    first: int | None
    inputs_agree: bool | None
    switched: bool = False
    seen: float = 0.0

    @property
    def verdict(self) -> Verdict | None:
        """None where there was nothing to compare."""
        if not self.rows:
            return None
        if self.first is not None:
            return Verdict.DIFFERS
        return Verdict.EQUAL if all(row.distance.identical for row in self.rows) else Verdict.NOISE

    @property
    def first_row(self) -> Row | None:
        """The first that differs."""
        return self.rows[self.first] if self.first is not None else None

    @property
    def differing(self) -> Sequence[Row]:
        """All that differ."""
        return [row for row in self.rows if row.differs]


def floor_bases(rows: Iterable[Row]) -> dict[Basis, int]:
    """How many rows were judged by which kind of floor."""
    found: dict[Basis, int] = {}
    for row in rows:
        found[row.floor.basis] = found.get(row.floor.basis, 0) + 1
    return found
