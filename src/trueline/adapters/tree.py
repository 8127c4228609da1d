"""Tensors inside the structures that modules take and return."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import NoneType
from typing import Final

from trueline.adapters.nouns import Value
from trueline.model.describing import described, holds

# Bounds a value that holds itself.
_MAX_DEPTH = 8
# Most of what modules are given besides tensors holds nothing.
_NO_CONTAINERS: Final = frozenset((NoneType, bool, int, float, str))


def leaves(
    value: Value, is_tensor: Callable[[object], bool], *, at: str = "", depth: int = 0
) -> Iterator[tuple[str, Value]]:
    """(index, tensor) pairs: "0" for a single tensor, "0", "1" for a tuple, "0.hidden" where nested."""
    if holds(is_tensor, value):
        yield at or "0", value
        return
    if depth >= _MAX_DEPTH or type(value) in _NO_CONTAINERS:
        return
    try:
        items = _items(value)
    except Exception:  # noqa: BLE001 - what is not to be looked into holds no tensor that could be told
        return
    for name, item in items:
        yield from leaves(item, is_tensor, at=f"{at}.{name}" if at else name, depth=depth + 1)


def _items(value: Value) -> Iterable[tuple[str, Value]]:
    """The items of a container by name; those of a user's class are read at once."""
    kind = type(value)
    if kind is dict:
        return ((described(str, name), item) for name, item in value.items())
    if kind is list or kind is tuple:
        return ((str(place), item) for place, item in enumerate(value))
    if isinstance(value, Mapping):
        return [(described(str, name), item) for name, item in value.items()]
    if isinstance(value, list | tuple):
        return [(str(place), item) for place, item in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    return ()


def replaced(
    value: Value,
    is_tensor: Callable[[object], bool],
    replacement: Callable[[str, Value], Value],
    *,
    at: str = "",
    depth: int = 0,
) -> Value:
    """The same structure, each tensor of it replaced by what ``replacement`` gives for its index and itself."""
    if is_tensor(value):
        return replacement(at or "0", value)
    kind = type(value)
    if depth >= _MAX_DEPTH or kind in _NO_CONTAINERS:
        return value

    def inside(name: object, item: Value) -> Value:
        return replaced(item, is_tensor, replacement, at=f"{at}.{name}" if at else str(name), depth=depth + 1)

    if kind is list or kind is tuple:
        return kind([inside(place, item) for place, item in enumerate(value)])
    if isinstance(value, Mapping):
        made = {name: inside(name, item) for name, item in value.items()}
        return made if type(value) is dict else _like(value, made)
    if isinstance(value, list | tuple):
        items = [inside(place, item) for place, item in enumerate(value)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if field.init]
        return dataclasses.replace(value, **{name: inside(name, getattr(value, name)) for name in names})
    return value


def _like(value: Mapping[Value, Value], made: dict[Value, Value]) -> Value:
    """A mapping of the same type: a framework's own (ordered, with attributes) is copied and filled."""
    try:
        again = copy.copy(value)
        for name, item in made.items():
            again[name] = item  # type: ignore[index]
    except TypeError:
        return made
    return again
