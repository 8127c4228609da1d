"""Targets that a script writes itself: which values they can have, and comparisons with one that they never have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import fills, functions_of
from trueline.apitable.traits import Trait
from trueline.model.location import Location
from trueline.script.analysis.columns import batch_index, columns_of, plain
from trueline.script.analysis.reachable import all_values
from trueline.script.loops import training_loops
from trueline.script.trace import Event, Trace, iterated
from trueline.script.values import Derived, Item, Made, Value, ancestry, constant

# What leaves an array as it is.
_SAME: Final = functions_of(Trait.SAME, Trait.VIEW) | {"__getitem__"}


@dataclass(frozen=True, slots=True)
class Written:
    """All values that an array can hold, with the calls that write them; the first is what it is filled with."""

    fill: float
    writes: tuple[tuple[Event, float], ...]

    @property
    def values(self) -> set[float]:
        """What can be in it."""
        return {self.fill, *(value for _, value in self.writes)}


def written(column: Value, trace: Trace) -> Written | None:
    """What is written into an array of one value; None where something else may be in it as well."""
    base = next(
        (value for value in ancestry(column, most=8) if isinstance(value, Made) and _fill(value) is not None), None
    )
    fill = _fill(base) if base is not None else None
    if base is None or fill is None or not _is_only_cut(column, base):
        return None
    writes: list[tuple[Event, float]] = []
    for event in trace.events:
        receiver = event.receiver
        own = receiver is base or (isinstance(receiver, Item) and receiver.of is base)
        if not own:
            continue
        number = constant(event.arg(1)) if event.method == "__setitem__" else None
        if isinstance(number, int | float):
            writes.append((event, number))
        elif event.method not in _SAME:
            return None
    return Written(fill, tuple(writes))


def _fill(value: Value) -> float | None:
    if not isinstance(value, Made):
        return None
    if value.event.method in functions_of(Trait.FILLS_VALUE):
        number = constant(value.event.arg(1, "fill_value"))
        return number if isinstance(number, int | float) else None
    return fills().get(value.event.method)


def _is_only_cut(column: Value, base: Made) -> bool:
    at: Value | None = column
    for _ in range(12):
        at = plain(at)
        if at is base:
            return True
        at = at.of if isinstance(at, Item) else None
    return False


def never_compared_right(trace: Trace) -> Iterator[tuple[str, Location, float]]:
    """Comparisons of targets with a number that is never among them, where another one is there to be left out."""
    loops = [loop for loop in training_loops(trace) if loop.is_certain]
    loaders = {id(iterated(loop.loader)) for loop in loops}
    comparisons: dict[object, list[Derived]] = {}
    for value in all_values(trace):
        if not isinstance(value, Derived) or value.op not in ("Eq", "NotEq") or value.place is None:
            continue
        at = batch_index(plain(value.of[0]))
        if at is not None and id(iterated(at[0])) in loaders and isinstance(constant(value.of[1]), int | float):
            comparisons.setdefault((id(iterated(at[0])), at[1]), []).append(value)
    for values in comparisons.values():
        at = batch_index(plain(values[0].of[0]))
        columns = list(columns_of(iterated(at[0]), at[1], trace)) if at is not None else []
        known = [labels for column in columns if (labels := written(column, trace)) is not None]
        if len(known) == len(columns) == 1:
            yield from _wrong(known[0], values, _left_out(trace))


def _left_out(trace: Trace) -> set[float]:
    """Values that losses are told to leave out."""
    given = [constant(number.arg(None, "ignore_index")) for number in trace.events if "ignore_index" in number.kwargs]
    return {number for number in given if isinstance(number, int | float)}


def _wrong(known: Written, comparisons: list[Derived], left_out: set[float]) -> Iterator[tuple[str, Location, float]]:
    numbers = {constant(value.of[1]) for value in comparisons}
    for part in comparisons:
        number = constant(part.of[1])
        if number in known.values or part.place is None or not _is_beyond(number, known):
            continue
        # A value beyond the classes that nothing asks for: it is the one that was meant.
        odd = [value for value in known.values - numbers - left_out if _is_beyond(value, known)]
        idle = [event for event, value in known.writes if value == known.fill]
        if odd:
            yield "compared_with_another", part.place, odd[0]
        elif idle:
            yield "never_written", idle[0].place, number


def _is_beyond(value: float, known: Written) -> bool:
    """Whether it is no class, as far as the number of values tells."""
    return value < 0 or value > len(known.values)
