"""What is not the same in a script and in its benchmark's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trueline.model.location import Location
from trueline.model.message import Message
from trueline.script.diff.shapes import arguments_of
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
class Node:
    """What one of them has: the value, the event that made it, what it is called and where it stands."""

    name: str
    value: Value | None
    event: Event | None
    place: Location | None
    # What to call it, where no name of the source says what it is for.
    label: Message | None = None

    @property
    def constant(self) -> object:
        """The number or text that it is; None where it is none."""
        return self.value.value if isinstance(self.value, Const) else None


# What is compared after all calls: results that are printed, results of functions, calls without a partner.
_STAGES: Final = ("said", "return", "event", "unused")


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference: what the script has, what the benchmark has, and the call whose argument it is a part of."""

    kind: Kind
    mine: Node | None
    bench: Node | None
    owner: tuple[Event, Event] | None = None
    argument: str = ""
    # The operations between the argument and the difference, outermost first.
    path: Sequence[str] = ()
    # Of several operations in a row that only one has, all; the outermost is the one that differs.
    chain: Sequence[Node] = ()
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
    def position(self) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Where a reader of the script meets it: calls in their order, arguments in theirs, inner before outer.

        No two differences of a comparison have the same, so that sorting by it does not depend on how they came.
        """
        events = [node.event.index for node in self.nodes if node.event is not None]
        call = self.owner[0].index if self.owner is not None else min(events, default=0)
        arguments = [name for event in self.owner or () for name in arguments_of(event)]
        argument = arguments.index(self.argument) if self.argument in arguments else -1
        numbers = (_stage(self), call, argument, -len(self.path), list(Kind).index(self.kind), *events)
        names = (*(f"{node.place} {node.name}" for node in self.nodes), self.argument, *self.path)
        return numbers, names

    @property
    def nodes(self) -> list[Node]:
        """What either has."""
        return [node for node in (self.mine, self.bench) if node is not None]


def _stage(difference: Difference) -> int:
    if difference.argument in _STAGES:
        return 2 + _STAGES.index(difference.argument)
    return 1 if difference.kind is Kind.ORDER and difference.argument != "loop" else 0
