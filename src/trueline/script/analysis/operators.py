"""Operators in a script by their names and what they take, however they are written: torch.log, x.log, ops.Log()."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trueline.model.numbers import as_float
from trueline.script.trace import Event
from trueline.script.values import Derived, Made, Value, constant

LOGS: Final = frozenset(("log", "log2", "log10"))
ROOTS: Final = frozenset(("sqrt", "rsqrt"))
DIVISIONS: Final = frozenset(("div", "divide", "true_divide", "realdiv"))
PRODUCTS: Final = frozenset(("mult", "mul", "multiply"))
EXPONENTS: Final = frozenset(("exp", "exp2", "expm1", "sinh", "cosh"))
DIFFERENCES: Final = frozenset(("sub", "subtract"))
CASTS: Final = frozenset(("half", "to", "astype", "type", "cast"))
# What gives the same numbers in another shape or type, or some of them.
SAME: Final = CASTS | frozenset(
    ("view", "reshape", "unsqueeze", "squeeze", "expand", "expand_as", "float", "double", "contiguous", "flatten",
     "transpose", "permute", "clone", "detach", "mean", "amin", "amax", "min", "gather", "gather_elements",
     "index_select", "expand_dims", "swapaxes",
     "broadcast_to", "diagonal", "stack", "cat", "concat")
)  # fmt: skip
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
