"""Padding in a script: where sequences are made equally long, and with which value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trueline.apitable.functions import fills, functions_of
from trueline.apitable.traits import Trait
from trueline.model.location import Location
from trueline.script.analysis.columns import plain
from trueline.script.trace import Event, Trace
from trueline.script.values import Const, Derived, Item, Made, Seq, Table, Value, ancestry, constant
from trueline.script.walking import walk


@dataclass(frozen=True, slots=True)
class Padding:
    """A place where something is padded; ``value`` None where it is not written down."""

    place: Location
    value: float | None


def paddings(value: Value | None, trace: Trace) -> Iterator[Padding]:
    """Where a value was padded on its way."""
    filled: dict[int, list[Event]] = {}
    for event in trace.named("*.__setitem__"):
        filled.setdefault(id(event.receiver), []).append(event)
    written = _written(value, filled)
    if written is not None:
        yield written
        return
    if _is_masked(value):
        # What stands where the padding was is another value now.
        return
    for part in ancestry(value, most=600):
        if isinstance(part, Derived) and part.op == "Add" and part.place is not None:
            last = part.of[-1]
            if isinstance(last, Seq) and last.kind == "repeated":
                yield Padding(part.place, _number(last.items[0]))
        elif isinstance(part, Made):
            yield from _made(part, filled)


def _written(value: Value | None, filled: dict[int, list[Event]]) -> Padding | None:
    """Padding that is written into an array, or into what it is a cut of; what is written last counts."""
    for _ in range(20):
        if value is None:
            return None
        for event in reversed(filled.get(id(value), ())):
            index = event.arg(0)
            replaces = isinstance(index, Derived) and index.op == "Eq" and _number(event.arg(1)) is not None
            if replaces or _is_behind(event):
                return Padding(event.place, _number(event.arg(1)))
        inner = plain(value)
        if inner is value:
            inner = value.of if isinstance(value, Item) and not isinstance(value.index, Const) else None
        elif isinstance(value, Made):
            # One step at a time: each may have been written into.
            inner = value.event.receiver if value.event.receiver is not None else value.event.arg(0)
        value = inner
    return None


def _is_masked(value: Value | None) -> bool:
    """Whether the value that padding has is replaced on the way: ``ids.masked_fill(ids == PAD, IGNORED)``."""
    masks = functions_of(Trait.MASKS)
    return any(
        isinstance(part, Made) and part.event.method in masks and _number(part.event.args[-1]) is not None
        for part in ancestry(value, most=600)
        if isinstance(part, Made) and part.event.args
    )


def _is_behind(written: Event) -> bool:
    """``x[arange(n) >= lengths[:, None]] = 0``."""
    index = written.arg(0)
    if not isinstance(index, Derived) or index.op not in ("GtE", "Gt", "Lt", "LtE") or _number(written.arg(1)) is None:
        return False
    return any(isinstance(value, Made) and value.event.method == "arange" for value in index.of)


def _made(value: Made, filled: dict[int, list[Event]]) -> Iterator[Padding]:
    event, last = value.event, value.event.method
    if last == "pad_sequence":
        yield Padding(event.place, _number(event.arg(2, "padding_value") or Const(0)))
    elif value.name == "torch.nn.functional.pad":
        yield Padding(event.place, _number(event.arg(3, "value") or Const(0)))
    elif value.name == "numpy.pad":
        yield Padding(event.place, _number(event.arg(None, "constant_values") or Const(0)))
    elif last in functions_of(Trait.FILLS, Trait.FILLS_LIKE) and any(
        _is_open_end(written.arg(0)) for written in filled.get(id(value), ())
    ):
        given = Const(fills()[last]) if last in fills() else event.arg(1, "fill_value")
        yield Padding(event.place, _number(given))


@walk(False)
def _is_open_end(index: Value | None) -> bool:
    """``x[:n] = …`` with an n that is not written down: what is behind it stays as it was."""
    if isinstance(index, Seq):
        return any(_is_open_end(value) for value in index.items)
    if not isinstance(index, Derived) or index.op != "Slice":
        return False
    return constant(index.of[0], "?") in (None, 0) and not isinstance(index.of[1], Const)


def _number(value: Value | None) -> float | None:
    number = constant(value)
    return number if isinstance(number, int | float) and not isinstance(number, bool) else None


def pipeline_paddings(loader: Value | None, column: str | None) -> Iterator[Padding]:
    """MindSpore: ``padded_batch`` and ``PadEnd`` of a column."""
    at = loader
    while isinstance(at, Made):
        event = at.event
        if event.method == "padded_batch":
            info = event.arg(None, "pad_info")
            if isinstance(info, Table) and column in info.items:
                given = info.items[column]
                value = given.items[1] if isinstance(given, Seq) and len(given.items) == 2 else Const(0)
                yield Padding(event.place, _number(value))
        elif event.method == "map" and _is_of_column(event.arg(1, "input_columns"), column):
            for part in ancestry(event.arg(0, "operations"), most=30):
                if isinstance(part, Made) and part.name.endswith(".PadEnd"):
                    yield Padding(part.event.place, _number(part.event.arg(1, "pad_value") or Const(0)))
        at = event.receiver


def _is_of_column(value: Value | None, column: str | None) -> bool:
    if isinstance(value, Seq):
        return any(constant(part) == column for part in value.items)
    return constant(value) == column and column is not None


def column_name(loader: Value | None, index: object) -> str | None:
    """The name of a column of a MindSpore pipeline."""
    if isinstance(index, str):
        return index
    at = loader
    while isinstance(at, Made) and at.event.receiver is not None:
        at = at.event.receiver
    if isinstance(at, Made) and isinstance(index, int):
        names = at.event.arg(1, "column_names")
        if isinstance(names, Seq) and index < len(names.items):
            name = constant(names.items[index])
            return name if isinstance(name, str) else None
    return None
