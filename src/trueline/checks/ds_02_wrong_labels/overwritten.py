"""Samples or labels that a script writes over with those of others, so that they do not belong together any more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.model.location import Location
from trueline.script.analysis.columns import columns_of, plain, with_indexes
from trueline.script.trace import BRANCH, HANDLER, UNCALLED, Event, Trace
from trueline.script.values import Const, Derived, Either, Item, Made, Seq, Unknown, Value, ancestry, constant

_PERMUTING: Final = functions_of(Trait.PERMUTES)
_MIXING: Final = _PERMUTING | functions_of(Trait.DRAWS_WHOLE, Trait.DRAWS_CHOICE, Trait.SHUFFLES)
_ARITHMETIC: Final = ("Add", "Sub", "Mult", "Mod", "FloorDiv", "USub")


@dataclass(frozen=True, slots=True)
class Overwritten:
    """A place where elements of a column are written over with others of the same column."""

    event: Event
    mixed: bool

    @property
    def place(self) -> Location:
        """The line."""
        return self.event.place


def labels_overwritten(loader: Value, at: object, trace: Trace) -> Iterator[Overwritten]:
    """Labels that get those of other samples, while the samples stay where they are."""
    yield from _overwritten(loader, at, 0, trace)


def samples_overwritten(loader: Value, at: object, trace: Trace) -> Iterator[Overwritten]:
    """Samples that become copies of others, while the labels stay what they were."""
    for change in _overwritten(loader, 0, at, trace):
        if not change.mixed:
            yield change


def _overwritten(loader: Value, column: object, other: object, trace: Trace) -> Iterator[Overwritten]:
    own = {id(part) for value in columns_of(loader, column, trace) for part in _bases(value)}
    values = list(columns_of(loader, other, trace))
    if not own or not values:
        return
    beside = {id(part) for value in values for part in with_indexes(value)}
    changes = [(event, change) for event in trace.events if (change := _change(event)) is not None]
    for event, change in changes:
        if id(change.column) not in own:
            continue
        if any(id(change.column) in beside - own for _, change in changes):
            # The others are moved as well, perhaps alike.
            return
        if not any(_made_after(value, change.column, event) for value in values):
            yield Overwritten(event, change.mixed)


@dataclass(frozen=True, slots=True)
class _Change:
    column: Value
    mixed: bool


def _change(event: Event) -> _Change | None:
    """What an event puts in another order, or writes over with other elements of its own."""
    if any(scope.kind in (UNCALLED, BRANCH, HANDLER) for scope in event.scopes):
        return None
    if event.method == "shuffle" and event.args and event.name.startswith(("numpy.", "random.")):
        given = plain(event.args[0])
        return _Change(given, True) if given is not None else None
    if event.method != "__setitem__":
        return None
    column, index, value = plain(event.receiver), event.arg(0), plain(event.arg(1))
    if column is None or index is None:
        return None
    if _is_mixed(value, column):
        return _Change(column, True)
    if isinstance(value, Item) and plain(value.of) is column and value.index is not None:
        if isinstance(index, Derived) and index.op == "Slice":
            return _Change(column, False) if _are_apart(index, value.index) else None
        return _Change(column, False) if _is_elsewhere(value.index, index) else None
    return None


def _is_mixed(value: Value | None, column: Value) -> bool:
    """``permutation(y[a:b])``, ``y[order][randperm(n)]``."""
    if isinstance(value, Made) and value.event.method == "permutation" and value.event.args:
        return any(part is column for part in _bases(value.event.args[0]))
    if isinstance(value, Item) and isinstance(index := plain(value.index), Made):
        drawn = index.event.method in _PERMUTING
        return drawn and any(part is column for part in _bases(value.of))
    return False


def _are_apart(value: Derived, other_value: Value) -> bool:
    """Whether two cuts have no element in common, by the numbers that are written down."""
    if not (isinstance(other_value, Derived) and other_value.op == "Slice"):
        return False
    cuts = []
    for cut in (value, other_value):
        numbers = [constant(bound, "?") for bound in cut.of]
        if numbers[0] is None:
            numbers[0] = 0
        first, last, step = (*numbers, None, None)[:3]
        if not (isinstance(first, int) and isinstance(last, int) and step in (None, 1)) or min(first, last) < 0:
            return False
        cuts.append((first, last))
    return cuts[0][1] <= cuts[1][0] or cuts[1][1] <= cuts[0][0]


def _is_elsewhere(index: Value, target: Value) -> bool:
    """Whether an element is taken from a place that was calculated, or drawn, and is not just beside the target."""
    if index is target:
        return False
    if (
        isinstance(index, Derived)
        and index.op in ("Add", "Sub")
        and any(isinstance(value, Const) for value in index.of)
    ):
        return False
    if isinstance(index, Made):
        return index.event.method in _MIXING
    return isinstance(index, Derived) and index.op == "Mod" and _is_calculated(index)


def _is_calculated(value: Value) -> bool:
    """Only by numbers, counters and lengths: whatever the samples are like."""
    for part in ancestry(value, most=40):
        if isinstance(part, Derived) and part.op not in _ARITHMETIC:
            return False
        if isinstance(part, Item | Either | Seq) and not isinstance(part, Unknown):
            return False
        if isinstance(part, Made):
            return part.name == "builtins.len"
    return True


def _bases(value: Value | None) -> Iterator[Value]:
    """What a column is a view, a part or another type of."""
    for _ in range(20):
        value = plain(value)
        if value is None:
            return
        yield value
        if isinstance(value, Item):
            value = value.of
        elif isinstance(value, Made) and value.name in ("builtins.int", "builtins.float"):
            value = value.event.arg(0)
        else:
            return


def _made_after(value: Value, column: Value, event: Event) -> bool:
    """Whether something may be made from a column that has been changed already: then it fits."""
    made = list(with_indexes(value))
    if not any(part is column for part in made):
        return False
    last = max((part.event.index for part in made if isinstance(part, Made)), default=-1)
    # Something of it was done between the making of the column and its change: it was made then.
    before = isinstance(column, Made) and column.event.index < last < event.index
    lines = [
        part.place.line for part in made if isinstance(part, Derived) and part.place and _beside(part.place, event)
    ]
    return not before or any(line > event.place.line for line in lines)


def _beside(place: Location, event: Event) -> bool:
    return place.file == event.place.file
