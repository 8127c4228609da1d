"""Sides in a script: on which one sequences are filled up, and what is read as if it were the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trueline.model.location import Location
from trueline.script.analysis.columns import batch_index, columns_of, plain
from trueline.script.analysis.reachable import all_values
from trueline.script.loops import training_loops
from trueline.script.trace import Trace, iterated
from trueline.script.values import Const, Derived, Item, Made, Seq, Unknown, Value, ancestry, constant

LEFT: Final = "left"
RIGHT: Final = "right"
_COLUMNS: Final = (0, 1, 2, 3)
_LENGTHS: Final = re.compile(r"len(gth)?s?\b|lens\b|lengths?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Filled:
    """On which side padding stands, where that is decided, and how much of a sequence is data."""

    side: str
    place: Location
    length: Value


def filled(column: Value, trace: Trace) -> Filled | None:
    """The side on which what is put into an array leaves it as it was."""
    roots = {id(value) for value in ancestry(column, most=12) if isinstance(value, Made)}
    for event in trace.events:
        receiver = event.receiver
        if event.method != "__setitem__" or receiver is None:
            continue
        if id(receiver) in roots or (isinstance(receiver, Item) and id(receiver.of) in roots):
            for index in _slices(event.arg(0)):
                values = _side(index)
                if values is not None:
                    return Filled(values[0], event.place, values[1])
    return None


def _slices(index: Value | None) -> Iterator[Derived]:
    for value in index.items if isinstance(index, Seq) else [index]:
        if isinstance(value, Derived) and value.op == "Slice":
            yield value


def _side(index: Derived) -> tuple[str, Value] | None:
    first, last, step = index.of
    if constant(step, 0) is not None:
        return None
    if constant(first, "?") in (None, 0) and not isinstance(last, Const):
        return RIGHT, last
    if constant(last, "?") is None and isinstance(first, Derived) and first.op == "USub":
        return LEFT, first.of[0]
    return None


def on_different_sides(trace: Trace) -> Iterator[Location]:
    """Parts of one sample, as long as each other, that are filled up on different sides."""
    for loop in training_loops(trace):
        known = [column for _, column in _columns(loop.loader, trace)]
        for column in known:
            if column.side == LEFT and any(
                other_column.side == RIGHT and _is_same(column.length, other_column.length) for other_column in known
            ):
                yield column.place


def _columns(loader: Value | None, trace: Trace) -> Iterator[tuple[object, Filled]]:
    for index in _COLUMNS:
        for column in columns_of(loader, index, trace):
            filled_column = filled(column, trace)
            if filled_column is not None:
                yield index, filled_column


def _is_same(value: Value, other_value: Value) -> bool:
    """The same number of steps: one variable, or the length of one thing."""
    if value is other_value:
        return True
    if (
        isinstance(value, Made)
        and isinstance(other_value, Made)
        and value.event.method == other_value.event.method == "len"
    ):
        return value.event.arg(0) is other_value.event.arg(0)
    return False


def read_from_the_front(trace: Trace) -> Iterator[Location]:
    """Sequences that are filled up on the left, and lengths by which they are read as if it were on the right."""
    for loop in training_loops(trace):
        left = [column for _, column in _columns(loop.loader, trace) if column.side == LEFT]
        if left and any(_counts_from_the_front(value, trace) for value in all_values(trace)):
            yield left[0].place


def _counts_from_the_front(value: Value, trace: Trace) -> bool:
    """``lengths - 1`` as a place to read at, ``arange(n) < lengths``, packing by lengths."""
    if isinstance(value, Derived) and value.op == "Sub" and constant(value.of[1]) == 1:
        return _is_lengths(value.of[0], trace)
    if isinstance(value, Derived) and value.op in ("Lt", "LtE", "Gt", "GtE") and len(value.of) == 2:
        counts = [
            any(isinstance(part, Made) and part.event.method == "arange" for part in ancestry(side, most=8))
            for side in value.of
        ]
        values = [part for part, counted in zip(value.of, counts, strict=True) if not counted]
        return len(values) == 1 and _is_lengths(values[0], trace)
    if isinstance(value, Made) and value.event.method == "pack_padded_sequence":
        return _is_lengths(value.event.arg(1, "lengths"), trace)
    return False


def _is_lengths(value: Value | None, trace: Trace) -> bool:
    """Whether it is a part of a batch that says how long its sequences are."""
    while isinstance(value, Item) and batch_index(value) is None:
        value = value.of
    at = batch_index(plain(value))
    if at is None:
        return False
    for column in columns_of(iterated(at[0]), at[1], trace):
        for part in ancestry(column, most=12):
            if isinstance(part, Made) and part.event.method == "len":
                return True
            if isinstance(part, Unknown) and _LENGTHS.search(part.why):
                return True
    return isinstance(at[1], str) and bool(_LENGTHS.search(at[1]))
