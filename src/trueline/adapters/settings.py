"""The plain settings among an operator's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from types import EllipsisType
from typing import Any

_MANY = 16
_PLAIN = (bool, int, float, str)


def plain_settings(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What of the arguments is a number, a text, or a short list of these; types and slices as texts."""
    found = {name: _plain(value) for name, value in arguments.items()}
    return {name: value for name, value in found.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, list | tuple):
        parts = [_plain(one) for one in value] if len(value) <= _MANY else []
        return parts if parts and all(one is not None for one in parts) else None
    kind = type(value)
    named = "dtype" in kind.__name__.lower() or kind.__module__ == "mindspore._c_expression.typing"
    return str(value) if named or isinstance(value, slice | EllipsisType) else None
