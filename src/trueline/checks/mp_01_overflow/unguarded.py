"""Operators on the way to a loss that can give what is not finite, and whether anything keeps them from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trueline.apitable.functions import functions_of, lower_of
from trueline.apitable.traits import Trait
from trueline.checks.mp_01_overflow.near_zero import is_any_sign, is_measured, near_zero
from trueline.model.location import Location
from trueline.script.analysis.operators import (
    CASTS,
    DIFFERENCES,
    DIVISIONS,
    EXPONENTS,
    LOGS,
    PRODUCTS,
    ROOTS,
    SAME,
    is_of_tensors,
    number,
    operands,
    operator_name,
)
from trueline.script.roles import Role
from trueline.script.trace import Trace
from trueline.script.values import Attribute, Derived, Item, Made, Symbol, Value, constant, options
from trueline.script.walking import walk

# Values behind a loss that are looked at: bounds the graph, which may be cyclic.
MAX_VISITED_VALUES: Final = 20_000
_BOUNDED: Final = lower_of(Trait.UPPER_END)
_NOT_NEGATIVE: Final = lower_of(Trait.NON_NEGATIVE)
_HALF: Final = functions_of(Trait.TO_FLOAT16)
_WHOLE: Final = functions_of(Trait.TO_FLOAT32, Trait.TO_BFLOAT16)
_LARGEST: Final = lower_of(Trait.LARGEST) | {"logsumexp"}
# A factor: a number of float16 that is multiplied by it leaves float16 at 65.
MIN_RISKY_FACTOR: Final = 1e3


class Danger(StrEnum):
    """What may go wrong at an operator."""

    LOGARITHM = "logarithm"
    ROOT = "root"
    DIVISION = "division"
    EXPONENT = "exponent"
    HALF = "half"


@dataclass(frozen=True, slots=True)
class Unguarded:
    """An operator that nothing keeps from zero, or from the end of its numbers.

    ``grade`` is 1 where it may come there, 2 where it easily does, 3 where it surely does.
    """

    danger: Danger
    place: Location
    grade: int


def unguarded(trace: Trace) -> list[Unguarded]:
    """Those that the losses of training come from, in the order of execution; a line counts once for a danger."""
    operations: dict[tuple[Danger, Location], Unguarded] = {}
    for value in reversed(list(way_to_losses(trace))):
        for operation in _judged(value):
            key = (operation.danger, operation.place)
            if key not in operations or operations[key].grade < operation.grade:
                operations[key] = operation
    return list(operations.values())


def way_to_losses(trace: Trace) -> Iterator[Value]:
    """Values between the batch and the losses, the losses first; what layers are built from is none of them."""
    waiting = [event.receiver for event in trace.of_role(Role.BACKWARD) if event.receiver is not None]
    seen: set[int] = set()
    at = 0
    while at < len(waiting) and at < MAX_VISITED_VALUES:
        value = waiting[at]
        at += 1
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield value
        if not isinstance(value, Made):
            waiting.extend(value.parts())
        elif value.event.role is not Role.BUILD_LOADER and not value.is_object:
            waiting.extend(operands(value))


def _judged(value: Value) -> Iterator[Unguarded]:
    parts = operands(value)
    if not parts or not is_of_tensors(value):
        return
    place = value.place if isinstance(value, Derived) else value.event.place if isinstance(value, Made) else None
    for danger, grade in _dangers(operator_name(value), parts):
        if grade and place is not None:
            yield Unguarded(danger, place, grade)


def _dangers(name: str, parts: Sequence[Value]) -> Iterator[tuple[Danger, int]]:
    first, second = parts[0], parts[1] if len(parts) > 1 else None
    share = number(second) if name == "pow" else None
    if name in LOGS:
        yield Danger.LOGARITHM, 2 if is_any_sign(first) else near_zero(first)
    elif name in ROOTS or (share is not None and 0 < share < 1):
        yield Danger.ROOT, 2 if is_any_sign(first) else near_zero(first)
    elif name in DIVISIONS and second is not None:
        yield Danger.DIVISION, near_zero(second) if is_measured(second) else 0
    elif name == "reciprocal" or (share is not None and share < 0):
        yield Danger.DIVISION, near_zero(first) if is_measured(first) else 0
    elif name in EXPONENTS:
        yield Danger.EXPONENT, 0 if _has_upper_end(first) else 1
    yield Danger.HALF, _in_half(name, parts)


@walk(False)
def _has_upper_end(value: Value) -> bool:
    """Whether what goes into an exponent is held down: the largest is taken off, it is negative, or bounded."""
    return all(_is_held_down(part) for part in options(value))


def _is_held_down(value: Value) -> bool:
    if number(value) is not None:
        return True
    if isinstance(value, Item):
        return _has_upper_end(value.of)
    name, parts = operator_name(value), operands(value)
    if name in _BOUNDED:
        return True
    if not parts:
        return False
    if name in SAME:
        return _has_upper_end(parts[0])
    if name in ("usub", "neg"):
        return _is_not_negative(parts[0])
    if name in DIFFERENCES:
        return len(parts) > 1 and _is_the_largest(parts[1])
    if name in PRODUCTS or name in DIVISIONS or name == "add":
        negative = any((known := number(part)) is not None and known < 0 for part in parts[:2])
        return all(map(_has_upper_end, parts[:2])) or (negative and name != "add" and any(map(_is_not_negative, parts)))
    return False


@walk(False)
def _is_not_negative(value: Value) -> bool:
    for part in options(value):
        name, parts, known = operator_name(part), operands(part), number(part)
        if name in _NOT_NEGATIVE or (known is not None and known >= 0):
            continue
        if name == "pow" and len(parts) > 1 and number(parts[1]) == 2:
            continue
        if name in PRODUCTS or name in DIVISIONS or name == "add":
            if all(map(_is_not_negative, parts[:2])):
                continue
        elif (name in SAME or name == "sum") and parts and _is_not_negative(parts[0]):
            continue
        return False
    return True


@walk(False)
def _is_the_largest(value: Value) -> bool:
    while isinstance(value, Item | Attribute):
        value = value.of
    name, parts = operator_name(value), operands(value)
    return name in _LARGEST or (bool(parts) and name in SAME and _is_the_largest(parts[0]))


def _in_half(name: str, parts: Sequence[Value]) -> int:
    """Numbers of float16 that are multiplied far up, or put into an exponent: 65504 is the largest of them."""
    if name in EXPONENTS:
        return 3 if is_half(parts[0]) and not _has_upper_end(parts[0]) else 0
    if name in CASTS and _is_to_half(name, parts[1:]):
        return 3 if any(_leads_far(operator_name(value), operands(value)) for value in options(parts[0])) else 0
    return 3 if _leads_far(name, parts) and any(map(is_half, parts)) else 0


def _leads_far(name: str, parts: Sequence[Value]) -> bool:
    known = [number(factor) for factor in parts[:2]]
    if name in DIVISIONS and len(known) > 1:
        return known[1] is not None and 0 < abs(known[1]) <= 1 / MIN_RISKY_FACTOR
    return name in PRODUCTS and any(factor is not None and abs(factor) >= MIN_RISKY_FACTOR for factor in known)


def _is_to_half(name: str, given: Sequence[Value]) -> bool:
    return name == "half" or any(
        (isinstance(value, Symbol) and value.name.rpartition(".")[2] in _HALF) or constant(value) == "float16"
        for value in given
    )


@walk(False)
def is_half(value: Value | None) -> bool:
    """Whether a value is of float16, by a cast in the script."""
    return any(_is_half(part) for part in options(value))


def _is_half(value: Value) -> bool:
    if isinstance(value, Item):
        return is_half(value.of)
    name, parts = operator_name(value), operands(value)
    if not parts or name in _WHOLE or (isinstance(value, Made) and value.event.role in (Role.FORWARD, Role.LOSS)):
        return False
    if name in CASTS:
        if _is_to_half(name, parts[1:]):
            return True
        if any(isinstance(part, Symbol) and part.name.rpartition(".")[2] in _WHOLE for part in parts[1:]):
            return False
    return any(is_half(part) for part in (parts[:2] if isinstance(value, Derived) else parts[:1]))
