"""What is not the same in a script and in its benchmark's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from trueline.model.location import Location
from trueline.script.trace import Event
from trueline.script.values import Const, Value


class Kind(StrEnum):
    """How the two differ."""

    # The same call with another argument, or with one that only one of them gives.
    SETTING = "setting"
    # An operation that only the benchmark's has.
    MISSING = "missing"
    # An operation that only the script has.
    EXTRA = "extra"
    # Another operation in its place, or another value.
    REPLACED = "replaced"
    # One object where the benchmark has several, and the other way round.
    SHARED = "shared"
    APART = "apart"
    # It happens under a condition that the other one does not have.
    CONDITION = "condition"
    # It happens before what it comes after in the benchmark.
    ORDER = "order"


@dataclass(frozen=True, slots=True)
class Thing:
    """What one of them has: the value, the event that made it, what it is called and where it stands."""

    name: str
    value: Value | None
    event: Event | None
    place: Location | None

    @property
    def constant(self) -> object:
        """The number or text that it is; None where it is none."""
        return self.value.value if isinstance(self.value, Const) else None


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: what the script has, what the benchmark has, and the call whose argument it is a part of."""

    kind: Kind
    mine: Thing | None
    bench: Thing | None
    owner: tuple[Event, Event] | None = None
    argument: str = ""
    # The operations between the argument and the difference, outermost first.
    path: Sequence[str] = ()
    # Of several operations in a row that only one has, all; the outermost is the one that differs.
    chain: Sequence[Thing] = ()
    # Where the script's operations around it stand, innermost first.
    within: Sequence[Location] = ()

    @property
    def numbers(self) -> tuple[float, float] | None:
        """The script's and the benchmark's, where both are numbers."""
        if self.mine is None or self.bench is None:
            return None
        mine, bench = self.mine.constant, self.bench.constant
        if isinstance(mine, bool) or isinstance(bench, bool):
            return None
        if isinstance(mine, int | float) and isinstance(bench, int | float):
            return float(mine), float(bench)
        return None

    @property
    def things(self) -> list[Thing]:
        """What either has."""
        return [one for one in (self.mine, self.bench) if one is not None]
