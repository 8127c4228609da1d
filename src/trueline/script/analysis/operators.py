"""Operators in a script by their names and what they take, however they are written: torch.log, x.log, ops.Log()."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trueline.apitable.functions import lower_of
from trueline.apitable.traits import Trait
from trueline.model.numbers import as_float
from trueline.script.trace import Event
from trueline.script.values import Derived, Made, Value, constant

LOGS: Final = lower_of(Trait.LOG)
ROOTS: Final = lower_of(Trait.ROOT)
DIVISIONS: Final = lower_of(Trait.DIVIDES)
PRODUCTS: Final = lower_of(Trait.MULTIPLIES) | {"mult"}
EXPONENTS: Final = lower_of(Trait.EXPONENT)
DIFFERENCES: Final = lower_of(Trait.SUBTRACTS)
CASTS: Final = lower_of(Trait.CASTS)
# What gives the same numbers in another shape or type, or some of them.
SAME: Final = lower_of(Trait.SAME, Trait.VIEW, Trait.EXPANDS, Trait.PICKS, Trait.JOINS, Trait.BETWEEN) | {"amax"}
_NOT_OF_TENSORS: Final = ("math.", "numpy.", "builtins.")


def operands(value: Value) -> Sequence[Value]:
    """What an operator takes: of an object that is called its arguments, of a method what it belongs to as well."""
    if isinstance(value, Derived):
        return value.of
    return _taken(value.event) if isinstance(value, Made) else ()


def _taken(event: Event) -> Sequence[Value]:
    given = (*event.args, *event.kwargs.values())
    return (event.receiver, *given) if event.receiver is not None and event.method != "__call__" else given


def operator_name(value: Value) -> str:
    """The operator's name in small letters; nothing where none has made the value."""
    if isinstance(value, Derived):
        return value.op.lower()
    if not isinstance(value, Made) or value.is_object:
        return ""
    return value.name.removesuffix(".__call__").rpartition(".")[2].lower()


def is_of_tensors(value: Value) -> bool:
    """Whether an operator may be one of a framework: plain numbers are computed before training."""
    return isinstance(value, Derived) or (isinstance(value, Made) and not value.name.startswith(_NOT_OF_TENSORS))


def number(value: Value | None) -> float | None:
    """A number that is written down."""
    known = constant(value)
    return as_float(known) if isinstance(known, int | float) else None
