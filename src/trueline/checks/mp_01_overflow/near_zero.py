"""How easily a value in a script is zero, and what keeps it from it: a small number added, a lower end, an exponent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trueline.apitable.functions import lower_of
from trueline.apitable.traits import Trait
from trueline.script.analysis.operators import (
    DIFFERENCES,
    PRODUCTS,
    ROOTS,
    SAME,
    is_of_tensors,
    number,
    operands,
    operator_name,
)
from trueline.script.roles import hint
from trueline.script.trace import Event
from trueline.script.values import Derived, Item, Made, Seq, Value, constant, options
from trueline.script.walking import walk

_POSITIVE: Final = lower_of(Trait.SELDOM_ZERO, Trait.SIZE) | {"where", "item"}
_ZERO_OFTEN: Final = lower_of(Trait.ZERO_OFTEN)
_DEVIATIONS: Final = lower_of(Trait.DEVIATION)
_DISTANCES: Final = lower_of(Trait.VECTOR_NORM)
_LOWER_ENDS: Final = lower_of(Trait.LOWER_END)
_LAYERS: Final = lower_of(Trait.LINEAR, Trait.CONV, Trait.BATCH_NORM, Trait.LAYER_NORM)
_POWERS: Final = lower_of(Trait.POWER)
_MEASURES: Final = (
    _DEVIATIONS | _DISTANCES | _ZERO_OFTEN | DIFFERENCES | _POWERS | lower_of(Trait.SUM) | {"sqrt", "clamp"}
)


@walk(1)
def near_zero(value: Value | None) -> int:
    """0 where something keeps it away from zero, 1 where it may be zero, 2 where it easily is, 3 where it surely is."""
    return max((_near_zero(part) for part in options(value)), default=1)


def _near_zero(value: Value) -> int:
    known = number(value)
    if known is not None:
        return 0 if known else 3
    if isinstance(value, Item):
        return near_zero(value.of)
    parts = operands(value)
    if not parts or not isinstance(value, Made | Derived):
        return 0 if "eps" in hint(value).lower() else 1
    name = operator_name(value)
    if name == "add":
        return min(near_zero(part) for part in parts[:2])
    if name in PRODUCTS:
        return max(near_zero(part) for part in parts[:2])
    if name in ("div", "usub", *ROOTS, *SAME):
        return near_zero(parts[0])
    if name in _POWERS:
        return 2 if _is_difference(parts[0]) else min(near_zero(parts[0]), 1)
    return _of_call(value.event, name, parts) if isinstance(value, Made) else 1


def _of_call(event: Event, name: str, parts: Sequence[Value]) -> int:
    if name in _POSITIVE:
        return 0
    if name in _ZERO_OFTEN:
        return 2
    if name in _LOWER_ENDS:
        return _clamped(event, name, parts)
    if name in _DEVIATIONS:
        return 3 if _is_one_row(parts[0]) and constant(event.arg(1, "dim", "axis"), 0) in (0, None) else 1
    if name in _DISTANCES:
        return 2 if _is_difference(parts[0]) else 1
    if name == "sum":
        inner = near_zero(parts[0])
        return inner if operator_name(parts[0]) in _POWERS | {"abs"} else min(inner, 1)
    return 1


def _clamped(event: Event, name: str, parts: Sequence[Value]) -> int:
    lowest = event.arg(None, "min", "clip_value_min")
    if lowest is None and len(parts) > 1 and (name == "maximum" or "max" not in event.kwargs):
        lowest = parts[1]
    if lowest is None or constant(lowest, 0) is None:
        return near_zero(parts[0])
    return near_zero(lowest) and 2 if number(lowest) is not None else 0


def is_any_sign(value: Value) -> bool:
    """Whether it is what a layer gives, which is negative as often as not."""
    while isinstance(value, Item):
        value = value.of
    return isinstance(value, Made) and operator_name(value) in _LAYERS


@walk(False)
def is_measured(value: Value) -> bool:
    """Whether a divisor is a deviation, a distance, a sum or a difference; what is handed in is trusted."""
    for part in options(value):
        name, parts = operator_name(part), operands(part)
        if not is_of_tensors(part):
            continue
        if name in _MEASURES:
            return True
        if (name in PRODUCTS or name == "add" or name in SAME) and any(map(is_measured, parts[:2])):
            return True
    return False


def _is_one_row(value: Value) -> bool:
    """``x[:1]``."""
    cut = value.index if isinstance(value, Item) else None
    if isinstance(cut, Seq) and cut.items:
        cut = cut.items[0]
    if not isinstance(cut, Derived) or cut.op != "Slice":
        return False
    low, high = (constant(part) for part in cut.of[:2])
    return isinstance(high, int) and high - (low if isinstance(low, int) else 0) == 1


def _is_difference(value: Value) -> bool:
    return any(operator_name(part) in DIFFERENCES for part in options(value))
