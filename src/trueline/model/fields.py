"""Reading JSON that may be wrong: each field checked, and a ValueError that says what is wrong."""

from __future__ import annotations

from typing import Any, TypeVar

from trueline.model.numbers import decode

Value = TypeVar("Value")


def may(found: object, name: str, kind: type[Value]) -> Value | None:
    """A value of a kind, or None where it is absent."""
    if not isinstance(found, dict):
        raise ValueError(f"expected an object, found {type(found).__name__}")
    value = found.get(name)
    if value is None:
        return None
    # True is an int to Python, and a mistake in a file.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{name}: expected {kind.__name__}, found {type(value).__name__}")
    return value


def need(found: object, name: str, kind: type[Value]) -> Value:
    """A value of a kind that must be there."""
    value = may(found, name, kind)
    if value is None:
        raise ValueError(f"{name} is missing")
    return value


def naturals(found: object, name: str) -> tuple[int, ...]:
    """Numbers from 0."""
    values = may(found, name, list) or []
    if not all(isinstance(value, int) and not isinstance(value, bool) and value >= 0 for value in values):
        raise ValueError(f"{name}: expected numbers from 0")
    return tuple(values)


def texts(found: object, name: str) -> tuple[str, ...]:
    """A list of texts."""
    values = may(found, name, list) or []
    if not all(isinstance(value, str) for value in values):
        raise ValueError(f"{name}: expected texts")
    return tuple(values)


def text_by_text(found: object, name: str) -> dict[str, str]:
    """Texts by text."""
    values = may(found, name, dict) or {}
    if not all(isinstance(value, str) for value in values.values()):
        raise ValueError(f"{name}: expected texts")
    return values


def number(found: Any, name: str) -> float:
    """A number, NaN and Inf as their words."""
    if name not in found:
        raise ValueError(f"{name} is missing")
    return decode(found[name])
