"""Gradients in a script: where they are cleared, cut off, divided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import functions_of, names_of, qualified_of
from trueline.apitable.traits import Trait
from trueline.script.roles import Role, is_scaler
from trueline.script.trace import GRAD, Event
from trueline.script.values import Attribute, Const, Derived, Made, Symbol, Value, ancestry, constant, options

_NO_GRADIENT: Final = functions_of(Trait.NO_GRADIENT)
_CUTTING: Final = functions_of(Trait.CUTS_GRADIENT)
_CUTTING_FUNCTIONS: Final = qualified_of(Trait.CUTS_GRADIENT)
_DIVIDING: Final = names_of(Trait.DIVIDES, Trait.MULTIPLIES, Trait.MEAN) | {"scale_"}


def is_without_gradient(event: Event) -> bool:
    """Whether it happens where torch keeps nothing for backward."""
    for context in event.contexts():
        name = context.name if isinstance(context, Symbol | Made) else ""
        last = name.rpartition(".")[2]
        if last in _NO_GRADIENT:
            return True
        if last == "set_grad_enabled" and isinstance(context, Made) and constant(context.event.arg(0)) is False:
            return True
    return False


def is_cut(value: Value) -> Event | None:
    """The event at which a value lost its way back to the weights; None where it did not."""
    if not isinstance(value, Made):
        return None
    event = value.event
    if event.method in _CUTTING and (event.receiver is not None or event.name.endswith("stop_gradient")):
        return event
    return event if event.name in _CUTTING_FUNCTIONS else None


def cleared_at(events: Iterator[Event]) -> Iterator[tuple[Event, Value | None]]:
    """Where gradients are cleared, and of what: an optimizer, a network, or None where it is done by hand."""
    for event in events:
        if event.role is Role.ZERO_GRAD:
            yield event, event.receiver
        elif event.method == "__setattr__" and constant(event.arg(0)) == "grad":
            given = event.arg(1)
            if isinstance(given, Const) and given.value is None:
                yield event, None
        elif event.method in functions_of(Trait.FILLS_IN_PLACE, Trait.WRITES) and _is_gradient(event.receiver):
            yield event, None


def _is_gradient(value: Value | None) -> bool:
    while isinstance(value, Attribute):
        if value.name == "grad":
            return True
        value = value.of
    return False


def is_divided(value: Value | None, *, until: tuple[Role, ...] = (Role.LOSS, Role.FORWARD)) -> bool:
    """Whether something is divided or multiplied on the way from a loss function to here."""
    waiting = [value] if value is not None else []
    seen: set[int] = set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Derived) and part.op in ("Div", "Mult", "FloorDiv"):
            return True
        if isinstance(part, Made):
            if part.event.role in until:
                continue
            if part.event.method in _DIVIDING:
                return True
        waiting.extend(part.parts())
    return False


_DIVISIONS: Final = functions_of(Trait.DIVIDES)
# What is done to a loss before its backward, and leaves a division in it.
_AVERAGES: Final = functions_of(Trait.MEAN, Trait.SUM)
_KEEPING: Final = _AVERAGES | functions_of(Trait.SAME, Trait.VIEW, Trait.SCALES_LOSS, Trait.DIVIDES, Trait.MULTIPLIES)


def is_averaged(loss: Value | None) -> bool:
    """Whether the last thing done to a loss is a division by a number, or a product with one that may be a share."""
    waiting = [(value, False) for value in options(loss)]
    seen: set[tuple[int, bool]] = set()
    while waiting:
        value, inside = waiting.pop()
        if (id(value), inside) in seen:
            continue
        seen.add((id(value), inside))
        # Within a mean it is the samples' own terms that are multiplied: only what is written down is a share of them.
        number = _is_written if inside else _is_number
        if isinstance(value, Made) and value.event.role is not Role.FORWARD:
            event = value.event
            inner = event.arg(0) if is_scaler(event.receiver) or event.receiver is None else event.receiver
            other_value = event.arg(1 if event.receiver is None else 0, "other")
            if event.method in _DIVISIONS and other_value is not None and number(other_value):
                return True
            if event.method in _KEEPING:
                waiting.extend((option, inside or event.method in _AVERAGES) for option in options(inner))
        if not isinstance(value, Derived):
            continue
        if value.op == "Div" and number(value.of[-1]):
            return True
        if value.op == "Mult" and any(number(side) and not _is_at_least_one(side) for side in value.of):
            return True
        waiting.extend((option, inside) for side in value.of for option in options(side))
    return False


def _is_written(value: Value) -> bool:
    return isinstance(constant(value), int | float)


def _is_number(value: Value) -> bool:
    """Whether no network and no loss is in it."""
    for part in ancestry(value, most=300):
        if isinstance(part, Made) and part.event.role in (Role.FORWARD, Role.LOSS):
            return False
    return True


def _is_at_least_one(value: Value) -> bool:
    number = constant(value)
    return isinstance(number, int | float) and abs(number) >= 1


def touches_gradients(events: Iterator[Event]) -> bool:
    """Whether gradients are changed by hand: divided, multiplied, set."""
    for event in events:
        if event.method in _DIVIDING and _is_gradient(event.receiver):
            return True
        if event.method == "__setattr__" and constant(event.arg(0)) == "grad" and constant(event.arg(1), 0) is not None:
            return True
        if event.method.startswith("_foreach_div") or event.method.startswith("_foreach_mul"):
            return True
    return False


def gives_gradient(event: Event) -> bool:
    """Whether an event stands where a framework differentiates."""
    return any(scope.kind == GRAD for scope in event.scopes)


def scaled_by(value: Value | None) -> Event | None:
    """The call that scaled a loss: ``scaler.scale(loss)``; None where there is none."""
    for part in ancestry(value):
        if isinstance(part, Made) and part.event.method == "scale" and part.event.receiver is not None:
            return part.event
    return None
