"""Masks in a script: what they are true for, and whether they fit the padding that they are there for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import classes_of, functions_of
from trueline.apitable.traits import Trait
from trueline.checks.dp_04_padding.padding import column_name, paddings, pipeline_paddings
from trueline.model.location import Location
from trueline.script.analysis.columns import batch_index, columns_of, plain
from trueline.script.analysis.forwards import is_uncalled
from trueline.script.analysis.reachable import all_values
from trueline.script.trace import Trace, iterated
from trueline.script.values import Const, Derived, Item, Made, Seq, Symbol, Value, ancestry, constant, options
from trueline.script.walking import walk

WORDS: Final = "words"
PADDING: Final = "padding"
_OTHER: Final = {WORDS: PADDING, PADDING: WORDS}
# These leave out what they are true for.
_KEY_MASKS: Final = ("src_key_padding_mask", "key_padding_mask", "memory_key_padding_mask", "tgt_key_padding_mask")
_ATTENTION: Final = classes_of(Trait.ATTENTION, Trait.DECODER)
_ORDERED: Final = {"Lt": WORDS, "LtE": WORDS, "Gt": PADDING, "GtE": PADDING}
_SAME: Final = functions_of(*(Trait.SAME, Trait.TO_TRUTH, Trait.VIEW, Trait.EXPANDS, Trait.REPEATS, Trait.JOINS))
# What is added to scores so that softmax leaves it out is below this.
_VERY_LOW: Final = -1e3


@dataclass(frozen=True, slots=True)
class Masking:
    """A place where what a mask is true for is left out of attention."""

    mask: Value
    place: Location


def maskings(trace: Trace) -> Iterator[Masking]:
    """Masks that are given to attention, or that scores are filled with a very low number by."""
    for event in trace.events:
        if is_uncalled(event):
            continue
        kind = event.name.removesuffix(".__call__").rpartition(".")[2]
        if event.method == "__call__" and kind in _ATTENTION:
            for name in _KEY_MASKS:
                if name in event.kwargs:
                    yield Masking(event.kwargs[name], event.place)
        elif event.method in functions_of(Trait.MASKS):
            given = event.args if event.receiver is not None else event.args[1:]
            if len(given) > 1 and _is_very_low(given[1]):
                yield Masking(given[0], event.place)
    for value in all_values(trace):
        if isinstance(value, Derived) and value.op == "Mult" and value.place is not None:
            for part, other_value in ((value.of[0], value.of[1]), (value.of[1], value.of[0])):
                if _is_very_low(other_value):
                    yield Masking(part, value.place)


def _is_very_low(value: Value) -> bool:
    number = constant(value)
    if isinstance(number, int | float):
        return number < _VERY_LOW
    if isinstance(value, Derived) and value.op == "USub":
        return any(_is_endless(one) for one in ancestry(value.of[0], most=5))
    if isinstance(value, Made) and value.event.method == "float":
        return str(constant(value.event.arg(0))).strip() in ("-inf", "-Inf", "-infinity")
    named = [symbol.name for symbol in ancestry(value, most=5) if isinstance(symbol, Symbol)] + [
        getattr(value, "name", "")
    ]
    return any(one.endswith("finfo.min") or one == "min" for one in named)


def _is_endless(value: Value) -> bool:
    name = value.name if isinstance(value, Symbol | Made) else ""
    return name.endswith((".inf", ".Inf")) or constant(value) in ("inf", float("inf"))


@walk(None)
def true_for(value: Value | None, trace: Trace) -> str | None:
    """What a mask is true for, or not zero at: the words, or the padding; None where that cannot be told."""
    if value is None:
        return None
    values = {_true_for(part, trace) for part in options(value)}
    return values.pop() if len(values) == 1 else None


def _true_for(value: Value, trace: Trace) -> str | None:
    at = batch_index(value)
    if at is not None:
        values = {true_for(part, trace) for part in columns_of(iterated(at[0]), at[1], trace)}
        return values.pop() if len(values) == 1 else None
    if isinstance(value, Derived):
        return _of_operator(value, trace)
    if isinstance(value, Made):
        event = value.event
        inner = (
            event.receiver if event.receiver is not None and not isinstance(event.receiver, Symbol) else event.arg(0)
        )
        if event.method in functions_of(Trait.NEGATES):
            return _OTHER.get(true_for(inner, trace) or "")
        return true_for(inner, trace) if event.method in _SAME else None
    if isinstance(value, Seq):
        return true_for(value.items[0], trace) if len(value.items) == 1 and value.kind != "repeated" else None
    return true_for(value.of, trace) if isinstance(value, Item) and not _is_chosen(value) else None


def _is_chosen(value: Item) -> bool:
    """``mask[0]``, ``mask[idx]``: not only another shape."""
    index = value.index
    parts = index.items if isinstance(index, Seq) else [index]
    return not all(
        part is not None and (constant(part, "?") is None or (isinstance(part, Derived) and part.op == "Slice"))
        for part in parts
    )


def _of_operator(value: Derived, trace: Trace) -> str | None:
    if value.op in ("Invert", "Not"):
        return _OTHER.get(true_for(value.of[0], trace) or "")
    if value.op == "Sub" and constant(value.of[0]) in (1, 1.0):
        return _OTHER.get(true_for(value.of[1], trace) or "")
    if value.op == "Add":
        fills = repeated_fills(value)
        return {(1.0, 0.0): WORDS, (0.0, 1.0): PADDING}.get(fills) if fills is not None else None
    if value.op in _ORDERED and len(value.of) == 2:
        sides = [_is_count(part) for part in value.of]
        if sides == [True, False]:
            return _ORDERED[value.op]
        return _OTHER[_ORDERED[value.op]] if sides == [False, True] else None
    if value.op in ("Eq", "NotEq") and len(value.of) == 2:
        return _of_comparison(value, trace)
    return None


def _is_count(value: Value) -> bool:
    """Positions: ``arange(length)``, in whatever shape."""
    return any(isinstance(part, Made) and part.event.method == "arange" for part in ancestry(value, most=8))


def _of_comparison(value: Derived, trace: Trace) -> str | None:
    left, number = value.of[0], constant(value.of[1], "?")
    known = true_for(left, trace)
    if known is not None and number in (0, 1, True, False):
        kept = (value.op == "Eq") == bool(number)
        return known if kept else _OTHER[known]
    fill = padding_value(left, trace)
    if fill is not None and fill == number:
        return PADDING if value.op == "Eq" else WORDS
    return None


def repeated_fills(value: Value) -> tuple[float, float] | None:
    """``[1] * length + [0] * rest``: both numbers."""
    if not isinstance(value, Derived) or value.op != "Add" or len(value.of) != 2:
        return None
    numbers = []
    for part in value.of:
        if not isinstance(part, Seq) or part.kind != "repeated" or len(part.items) != 1:
            return None
        numbers.append(constant(part.items[0]))
    first, second = numbers
    if isinstance(first, int | float) and isinstance(second, int | float):
        return float(first), float(second)
    return None


def padding_value(value: Value | None, trace: Trace) -> float | None:
    """What a part of a batch is filled up with; None where it is not, or with several things."""
    at = batch_index(plain(value))
    if at is None:
        return None
    loader = iterated(at[0])
    own = [padding.value for column in columns_of(loader, at[1], trace) for padding in paddings(column, trace)]
    own += [padding.value for padding in pipeline_paddings(loader, column_name(loader, at[1]))]
    return own[0] if own and len(set(own)) == 1 else None


def compared(mask: Value) -> Iterator[Derived]:
    """The comparisons of something with a number that a mask is made of."""
    for value in ancestry(mask, most=30):
        if isinstance(value, Derived) and value.op in ("Eq", "NotEq") and isinstance(value.of[1], Const):
            yield value
