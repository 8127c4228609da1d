"""Values to JSON that any reader takes: NaN and Inf as words, NumPy scalars as numbers, text as UTF-8 can hold it."""

from __future__ import annotations

from typing import Any

import msgspec

from trueline.model.describing import described
from trueline.model.numbers import encode, plain

# So deep are the pages of a recording itself, which needs no guard; a user's value may hold itself.
_TRUSTED = 8
_encode = msgspec.json.Encoder().encode


def _plain(value: Any, depth: int = 0) -> Any:
    kind = type(value)
    if kind is str or kind is int or kind is bool or value is None:
        return value
    if kind is float:
        return encode(value)
    if kind is dict and depth < _TRUSTED:
        return {described(str, name): _plain(item, depth + 1) for name, item in value.items()}
    if (kind is list or kind is tuple) and depth < _TRUSTED:
        return [_plain(item, depth + 1) for item in value]
    return plain(value)


def _writable(value: object) -> object:
    """The same tree with what UTF-8 cannot hold (bytes of a foreign file name) written as an escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {_writable(name): _writable(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_writable(item) for item in value]
    # Integers beyond 64 bits are valid JSON that few readers take.
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return str(value)
    return value


def json_bytes(value: object) -> bytes:
    """One value on one line, without the line's end."""
    tree = _plain(value)
    try:
        return _encode(tree)
    except (UnicodeEncodeError, OverflowError):
        return _encode(_writable(tree))


def json_page(value: object) -> bytes:
    """One value, indented for people."""
    return msgspec.json.format(json_bytes(value), indent=2) + b"\n"
