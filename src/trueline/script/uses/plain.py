"""What Python's own functions give, and what is in a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trueline.apitable.given import roles
from trueline.script.uses.roles import family_of, module_of, role_of
from trueline.script.uses.value import (
    ARRAY,
    NOTHING,
    NUMBER,
    OTHER,
    SEVERAL_TENSORS,
    TENSORS,
    TEXT,
    Instance,
    Mapped,
    Several,
    Tuple,
    Value,
    joined,
)

_NUMBERS: Final = frozenset(
    ("len", "int", "float", "bool", "complex", "hash", "id", "isinstance", "callable", "hasattr", "all", "any", "round")
)
_TEXTS: Final = frozenset(["str", "repr", "chr", "input", "format", "bytes", "hex", "bin", "oct", "ascii"])
_SAME: Final = frozenset(["iter", "reversed"])
_LISTS: Final = frozenset(["list", "tuple", "set", "sorted", "frozenset"])
_NOTHINGS: Final = frozenset(["print", "setattr", "delattr", "exec"])


def called_builtin(name: str, arguments: Sequence[Value | None]) -> Value | None:
    """What a call of a builtin function gives."""
    first = arguments[0] if arguments else None
    if name in _NUMBERS:
        return first if name == "round" and first is not None else NUMBER
    if name in _TEXTS:
        return TEXT
    if name in _LISTS:
        return Several(element_of(first))
    if name in _SAME:
        return first
    if name in _NOTHINGS:
        return NOTHING
    if name == "range":
        return Several(NUMBER)
    if name == "enumerate":
        return Several(Tuple((NUMBER, element_of(first))))
    if name == "zip":
        return Several(Tuple(tuple(map(element_of, arguments))))
    if name == "next":
        return element_of(first)
    if name == "dict":
        return Mapped(None)
    if name == "abs":
        return first
    if name == "sum":
        return element_of(first)
    if name in ("max", "min"):
        return element_of(first) if len(arguments) == 1 else _any_of(arguments)
    if name == "filter" and len(arguments) > 1:
        return Several(element_of(arguments[1]))
    if name == "map":
        return Several(None)
    return OTHER if name in ("open", "type", "object", "slice", "vars", "globals", "locals", "dir") else None


def element_of(value: Value | None) -> Value | None:
    """What a loop over a value gives, or an index into it."""
    match value:
        case Several() | Mapped():
            return value.element if isinstance(value, Several) else TEXT
        case Tuple():
            return _any_of(value.elements)
        case Instance(type="str"):
            return TEXT
        case Instance(type="numpy"):
            return ARRAY
        case Instance(type="number" | "none" | "other" | "list"):
            return OTHER if value is OTHER else None
        case Instance():
            return _element_of_object(value)
        case _:
            return None


def _element_of_object(value: Instance) -> Value | None:
    family, role = family_of(value.type), role_of(value.type)
    if role == "tensor":
        return value
    if role == "loader" or (role == "dataset" and family == "mindspore"):
        return SEVERAL_TENSORS[family]
    held = roles().get(value.type)
    if held == "modules":
        return module_of(family)
    if held == "tensors":
        return TENSORS[family]
    return None


def _any_of(values: Sequence[Value | None]) -> Value | None:
    found: Value | None = values[0] if values else None
    for value in values[1:]:
        found = joined(found, value)
    return found
