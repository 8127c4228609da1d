"""Numbers in files: NaN and Inf are the strings "nan", "inf" and "-inf", so that files stay valid JSON."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from trueline.model.describing import described, placeholder

# What is nested deeper holds itself.
_DEEPEST = 100
# What a terminal obeys where JSON is shown on it: in JSON every character may be written as its number.
_STEERING = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def encode(value: float) -> float | str:
    """A finite number as itself, any other as its word."""
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return "nan"
    return "inf" if value > 0 else "-inf"


def decode(value: float | str) -> float:
    """The number that ``encode`` was given; a ValueError for anything else."""
    if isinstance(value, str):
        if value not in _WORDS:
            raise ValueError(f'not a number: {value!r} (expected a number, "nan", "inf" or "-inf")')
        return _WORDS[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f'not a number: {value!r} (expected a number, "nan", "inf" or "-inf")')
    try:
        return float(value)
    except OverflowError:
        raise ValueError("a whole number that fits into no float") from None


def as_float(value: float) -> float:
    """A number as a float; a whole one that is too large for any is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def plain(value: object, depth: int = 0) -> Any:
    """Any tree of plain values with its non-finite numbers encoded; arrays become lists, unknown objects their text.

    What raises when it is looked at, or holds itself, is its type's name in angle brackets.
    """
    return placeholder(value) if depth > _DEEPEST else described(lambda one: _plain(one, depth + 1), value)


def _plain(value: object, depth: int) -> object:
    if value is None or isinstance(value, bool):
        return value
    # A number of a class of its own (NumPy's float64, an IntEnum) is that number.
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return encode(float.__float__(value))
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Mapping):
        return {described(str, name): plain(item, depth) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, depth) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item, depth) for item in value), key=str)
    tolist = getattr(value, "tolist", None)
    if callable(tolist) and not isinstance(value, type):
        return plain(tolist(), depth)
    return str(value)


def dump_json(value: object, *, indent: int | None = None) -> str:
    """Valid JSON, whatever numbers it holds."""
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=indent)
    text = _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    # A file name that is not UTF-8 holds lone surrogates: as JSON escapes they can be written, and read back.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
