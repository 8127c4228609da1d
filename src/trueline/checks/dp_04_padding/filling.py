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
    roots = {id(one) for one in ancestry(column, most=12) if isinstance(one, Made)}
    for event in trace.events:
        receiver = event.receiver
        if event.method != "__setitem__" or receiver is None:
            continue
        if id(receiver) in roots or (isinstance(receiver, Item) and id(receiver.of) in roots):
            for index in _slices(event.arg(0)):
                told = _side(index)
                if told is not None:
                    return Filled(told[0], event.place, told[1])
    return None


def _slices(index: Value | None) -> Iterator[Derived]:
    for one in index.items if isinstance(index, Seq) else [index]:
        if isinstance(one, Derived) and one.op == "Slice":
            yield one


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
        known = [one for _, one in _columns(loop.loader, trace)]
        for one in known:
            if one.side == LEFT and any(other.side == RIGHT and _is_same(one.length, other.length) for other in known):
                yield one.place


def _columns(loader: Value | None, trace: Trace) -> Iterator[tuple[object, Filled]]:
    for index in _COLUMNS:
        for column in columns_of(loader, index, trace):
            told = filled(column, trace)
            if told is not None:
                yield index, told


def _is_same(one: Value, other: Value) -> bool:
    """The same number of steps: one variable, or the length of one thing."""
    if one is other:
        return True
    if isinstance(one, Made) and isinstance(other, Made) and one.event.method == other.event.method == "len":
        return one.event.arg(0) is other.event.arg(0)
    return False


def read_from_the_front(trace: Trace) -> Iterator[Location]:
    """Sequences that are filled up on the left, and lengths by which they are read as if it were on the right."""
    for loop in training_loops(trace):
        left = [one for _, one in _columns(loop.loader, trace) if one.side == LEFT]
        if left and any(_counts_from_the_front(one, trace) for one in all_values(trace)):
            yield left[0].place


def _counts_from_the_front(value: Value, trace: Trace) -> bool:
    """``lengths - 1`` as a place to read at, ``arange(n) < lengths``, packing by lengths."""
    if isinstance(value, Derived) and value.op == "Sub" and constant(value.of[1]) == 1:
        return _is_lengths(value.of[0], trace)
    if isinstance(value, Derived) and value.op in ("Lt", "LtE", "Gt", "GtE") and len(value.of) == 2:
        counts = [
            any(isinstance(one, Made) and one.event.method == "arange" for one in ancestry(side, most=8))
            for side in value.of
        ]
        others = [one for one, counted in zip(value.of, counts, strict=True) if not counted]
        return len(others) == 1 and _is_lengths(others[0], trace)
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
        for one in ancestry(column, most=12):
            if isinstance(one, Made) and one.event.method == "len":
                return True
            if isinstance(one, Unknown) and _LENGTHS.search(one.why):
                return True
    return isinstance(at[1], str) and bool(_LENGTHS.search(at[1]))
