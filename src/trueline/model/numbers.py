"""Numbers in files: NaN and Inf are the strings "nan", "inf" and "-inf", so that files stay valid JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

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
    return float(value)


def plain(value: Any) -> Any:
    """Any tree of plain values with its non-finite numbers encoded; arrays become lists, unknown objects their text."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return encode(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=str)
    tolist = getattr(value, "tolist", None)
    if callable(tolist) and not isinstance(value, type):
        return plain(tolist())
    return str(value)


def dump_json(value: Any, *, indent: int | None = None) -> str:
    """Valid JSON, whatever numbers it holds."""
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False, indent=indent)
    # A file name that is not UTF-8 holds lone surrogates: as JSON escapes they can be written, and read back.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
