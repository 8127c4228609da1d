"""Tensors inside whatever structure a module takes or returns."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_DEEPEST = 8


def leaves(value: Any, is_tensor: Callable[[Any], bool], *, at: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """(index, tensor) pairs: "0" for a single tensor, "0", "1" for a tuple, "0.hidden" where nested."""
    if is_tensor(value):
        yield at or "0", value
        return
    if depth >= _DEEPEST or value is None:
        return
    if isinstance(value, Mapping):
        items: Iterator[tuple[str, Any]] = ((str(name), item) for name, item in value.items())
    elif isinstance(value, list | tuple):
        items = ((str(place), item) for place, item in enumerate(value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        items = ((one.name, getattr(value, one.name)) for one in dataclasses.fields(value))
    else:
        return
    for name, item in items:
        yield from leaves(item, is_tensor, at=f"{at}.{name}" if at else name, depth=depth + 1)
