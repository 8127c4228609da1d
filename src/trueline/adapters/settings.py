"""The plain settings among an operator's arguments."""

from __future__ import annotations

from collections.abc import Mapping
from types import EllipsisType

from trueline.model.json_value import Json

# A list that is longer is data.
_MAX_LIST_LENGTH = 16
_PLAIN = (bool, int, float, str)


def plain_settings(arguments: Mapping[str, object], dtype_module: str = "") -> dict[str, Json]:
    """What of the arguments is a number, a text, or a short list of these; types and slices as texts.

    ``dtype_module`` is where the classes of a framework's types stand, if their names do not say what they are.
    """
    plain = {name: _plain(value, dtype_module) for name, value in arguments.items()}
    return {name: value for name, value in plain.items() if value is not None}


def _plain(value: object, dtype_module: str) -> Json:
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, list | tuple):
        parts = [_plain(part, dtype_module) for part in value] if len(value) <= _MAX_LIST_LENGTH else []
        return parts if parts and all(part is not None for part in parts) else None
    kind = type(value)
    named = "dtype" in kind.__name__.lower() or kind.__module__ == dtype_module
    return str(value) if named or isinstance(value, slice | EllipsisType) else None
