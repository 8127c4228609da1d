"""Values of any structure as a JSON tree and arrays by name, and back: no code is stored, none is run.

In a tree a list is a list, and everything else that JSON has no word for is an object with one of the names below.
Classes are stored by name, and looked up among those that the process has imported already.
"""

from __future__ import annotations

import base64
import dataclasses
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from trueline.adapters.nouns import Array, Unreadable
from trueline.adapters.protocol import Values

_PLAIN: Final = (bool, int, str, type(None))
_DEEPEST: Final = 24
_WIDEST: Final = 1 << 53


class Unfit(Exception):  # noqa: N818
    """A stored class that this process does not have."""


class Saving:
    """Takes values apart; ``lost`` names what has no place in a tree or an array.

    The arrays may share memory with what they were taken from: they are to be used before that goes on.
    """

    def __init__(self, values: Values) -> None:
        self._values = values
        self.arrays: dict[str, Array] = {}
        self.lost: list[str] = []

    def tree(self, value: Any, name: str, *, depth: int = 0) -> Any:
        """The value's tree; its arrays are kept under names that begin with ``name``."""
        if self._values.is_tensor(value):
            return self._array(value, name, "tensor")
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value, name, "array" if isinstance(value, np.ndarray) else "scalar")
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _WIDEST:
            return {"int": str(value)}
        if type(value) in _PLAIN:
            return value
        if isinstance(value, bytes):
            return {"bytes": base64.b64encode(value).decode()}
        found = _taken_apart(value) if depth < _DEEPEST else None
        if found is None:
            self.lost.append(f"{name} ({type(value).__name__})")
            return None
        kind, keys, items = found
        trees = [self.tree(item, f"{name}/{place}", depth=depth + 1) for place, item in items]
        if kind == "list":
            return trees
        if kind == "tuple":
            return {"tuple": trees}
        names = [self.tree(key, f"{name}/key", depth=depth + 1) for key in keys]
        return {kind: list(map(list, zip(names, trees, strict=True)))} | _class_of(value, kind)

    def _array(self, value: Any, name: str, kind: str) -> Any:
        try:
            array = self._values.to_numpy(value) if kind == "tensor" else np.asarray(value)
        except Unreadable:
            self.lost.append(f"{name} ({type(value).__name__})")
            return None
        if array.dtype.kind in "OSUMmV" and array.dtype.name not in ("bfloat16",) and not _is_small_float(array):
            self.lost.append(f"{name} ({array.dtype})")
            return None
        self.arrays[name] = array
        return {kind: name}


def _is_small_float(array: Array) -> bool:
    return array.dtype.name.startswith("float8")


def _taken_apart(value: Any) -> tuple[str, list[Any], list[tuple[Any, Any]]] | None:
    """(kind, keys, (name, item) pairs) of a container, None for what is none."""
    if type(value) in (list, tuple):
        return type(value).__name__, [], list(enumerate(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return "named", list(value._fields), list(zip(value._fields, value, strict=True))
    if isinstance(value, Mapping):
        return ("dict" if type(value) is dict else "mapping"), list(value), list(value.items())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [one.name for one in dataclasses.fields(value)]
        return "dataclass", names, [(name, getattr(value, name)) for name in names]
    return None


def _class_of(value: Any, kind: str) -> dict[str, str]:
    return {} if kind == "dict" else {"class": f"{type(value).__module__}:{type(value).__qualname__}"}


def rebuilt(tree: Any, arrays: Mapping[str, Array], tensor: Callable[[Array], Any]) -> Any:
    """The value again; ``tensor`` makes a framework's tensor. An Unfit names a class that is not there."""
    if isinstance(tree, list):
        return [rebuilt(one, arrays, tensor) for one in tree]
    if not isinstance(tree, dict):
        return tree
    for kind, make in _SIMPLE.items():
        if kind in tree:
            return make(tree[kind])
    if "tensor" in tree:
        return tensor(arrays[tree["tensor"]])
    if "array" in tree:
        return np.array(arrays[tree["array"]])
    if "scalar" in tree:
        return arrays[tree["scalar"]][()]
    if "tuple" in tree:
        return tuple(rebuilt(one, arrays, tensor) for one in tree["tuple"])
    return _container(tree, arrays, tensor)


_SIMPLE: Final[dict[str, Callable[[Any], Any]]] = {"float": float, "int": int, "bytes": base64.b64decode}


def _container(tree: Mapping[str, Any], arrays: Mapping[str, Array], tensor: Callable[[Array], Any]) -> Any:
    kind = next(iter(tree))
    items = {_hashable(rebuilt(key, arrays, tensor)): rebuilt(one, arrays, tensor) for key, one in tree[kind]}
    if kind == "dict":
        return items
    found = _class_named(str(tree["class"]), kind)
    if kind == "mapping":
        return found(items)
    return found(**items)


def _hashable(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) else key


def _class_named(name: str, kind: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    fits = isinstance(found, type) and (
        (kind == "mapping" and issubclass(found, Mapping))
        or (kind == "named" and issubclass(found, tuple) and hasattr(found, "_fields"))
        or (kind == "dataclass" and dataclasses.is_dataclass(found))
    )
    if not fits:
        raise Unfit(name)
    return found


def array_names(tree: Any) -> Iterator[str]:
    """The names of all arrays that a tree speaks of."""
    if isinstance(tree, list):
        for one in tree:
            yield from array_names(one)
    elif isinstance(tree, dict):
        for kind, inside in tree.items():
            if kind in ("tensor", "array", "scalar"):
                yield inside
            elif isinstance(inside, list):
                yield from array_names(inside)
