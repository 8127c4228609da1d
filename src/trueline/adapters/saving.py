"""Values of any structure as a JSON tree and arrays by name, and back: no code is stored, none is run.

In a tree a list is a list, and everything else that JSON has no word for is an object with one of the names below.
Classes are stored by name and looked up among those that the process has imported already; what they build is filled
in from outside, since their own constructors may compute something, a second time.
"""

from __future__ import annotations

import base64
import dataclasses
import math
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MemberDescriptorType, ModuleType
from typing import Final

import numpy as np

from trueline.adapters.nouns import Foreign, Unreadable, Value
from trueline.adapters.protocol import Values
from trueline.kernel.array import Array
from trueline.model.json_value import Json

_PLAIN: Final = (bool, int, str, type(None))
# Bounds a value that holds itself.
_MAX_DEPTH: Final = 24
# From here on readers of JSON may round a whole number.
_FIRST_INEXACT: Final = 1 << 53
_LISTS: Final = (tuple, set, frozenset)
# The nearest of these makes a dictionary of a class of its own.
_DICTIONARIES: Final = (OrderedDict, defaultdict, dict)
_FACTORIES: Final = {kind.__name__: kind for kind in (bool, dict, float, int, list, set, str, tuple)}
_BUILDS: Final = ("__new__", "__getattribute__")
_PICKLES: Final = ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")


class Unfit(Exception):  # noqa: N818
    """A stored class that is not importable here, or whose instances cannot be restored."""


class Malformed(Exception):  # noqa: N818
    """A tree that does not represent a value."""


class Saving:
    """Takes values apart; ``lost`` names what has no place in a tree or an array.

    The arrays may share memory with what they were taken from: they are to be used before that goes on.
    """

    def __init__(self, values: Values) -> None:
        self._values = values
        self.arrays: dict[str, Array] = {}
        self.lost: list[str] = []

    def tree(self, value: Value, name: str, *, depth: int = 0) -> Json:
        """The value's tree; its arrays are stored under names that begin with ``name``."""
        if self._values.is_tensor(value):
            return self._array(value, name, "tensor")
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value, name, "array" if isinstance(value, np.ndarray) else "scalar")
        if type(value) in _PLAIN or type(value) in (float, complex, bytes):
            return _simple(value)
        if depth < _MAX_DEPTH:
            container = self._container(value, name, depth + 1)
            if container is not None:
                return container
        self.lost.append(f"{name} ({type(value).__name__})")
        return None

    def _container(self, value: Value, name: str, depth: int) -> Json:
        """A container's tree; None for anything else."""

        def pairs(items: Iterable[tuple[Foreign, Value]]) -> list[list[Json]]:
            return [
                [self.tree(key, f"{name}/key", depth=depth), self.tree(item, f"{name}/{key}", depth=depth)]
                for key, item in items
            ]

        def items_of(items: Iterable[Value]) -> list[Json]:
            return [self.tree(item, f"{name}/{place}", depth=depth) for place, item in enumerate(items)]

        kind = type(value)
        if kind is list:
            return items_of(value)
        if kind in _LISTS:
            return {kind.__name__: items_of(value)}
        if kind is dict:
            return {"dict": pairs(value.items())}
        described = {"class": f"{kind.__module__}:{kind.__qualname__}"}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return {"named": items_of(tuple(value)), **described}
        if isinstance(value, dict):
            factory = getattr(getattr(value, "default_factory", None), "__name__", None)
            held = {"held": pairs(_attributes(value))}
            return {"mapping": pairs(dict.items(value)), **held, "factory": factory, **described}
        if _can_be_filled(kind):
            return {"object": pairs(_attributes(value)), **described}
        return None

    def _array(self, value: Value, name: str, kind: str) -> Json:
        try:
            array = self._values.to_numpy(value) if kind == "tensor" else np.asarray(value)
        except Unreadable:
            self.lost.append(f"{name} ({type(value).__name__})")
            return None
        if array.dtype.kind == "U":
            return {"words": array.reshape(-1).tolist(), "shape": list(array.shape), "as": kind}
        if array.dtype.kind in "OSMmV" and array.dtype.name not in ("bfloat16",) and not _is_small_float(array):
            self.lost.append(f"{name} ({array.dtype})")
            return None
        self.arrays[name] = array
        return {kind: name, **_layout(array)}


def _simple(value: bool | int | float | complex | str | bytes | None) -> Json:
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, complex):
        return {"complex": repr(value)}
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if type(value) is int and abs(value) >= _FIRST_INEXACT:
        return {"int": str(value)}
    return value


def _layout(array: Array) -> dict[str, list[int]]:
    """The axis order in memory where it is not C order: kernels may depend on it."""
    order = sorted(range(array.ndim), key=lambda axis: -array.strides[axis])
    usual = array.flags.c_contiguous or not array.transpose(order).flags.c_contiguous
    return {} if usual else {"order": order}


def _is_small_float(array: Array) -> bool:
    return array.dtype.name.startswith("float8")


def _can_be_filled(kind: type) -> bool:
    """Whether an object is fully described by its attributes: no constructor or pickling of its own."""
    decided = _BUILDS if dataclasses.is_dataclass(kind) else (*_BUILDS, *_PICKLES)
    plain = all(getattr(kind, name, None) is getattr(object, name, None) for name in decided)
    pythons = kind.__module__.partition(".")[0] in sys.stdlib_module_names and kind.__module__ != "collections"
    return plain and not pythons and not hasattr(kind, "__del__") and bool(kind.__dictoffset__ or list(_slots(kind)))


def _slots(kind: type) -> Iterator[str]:
    for base in kind.__mro__:
        if base not in _DICTIONARIES:
            yield from (name for name, value in vars(base).items() if type(value) is MemberDescriptorType)


def _attributes(value: object) -> list[tuple[str, Value]]:
    held = list(vars(value).items()) if hasattr(value, "__dict__") else []
    return held + [(name, getattr(value, name)) for name in _slots(type(value)) if hasattr(value, name)]


def rebuilt(tree: Foreign, arrays: Mapping[str, Array], tensor: Callable[[Array], Value]) -> Value:
    """The value of a tree; ``tensor`` makes a framework's tensor. Unfit names a class that is missing."""
    try:
        return _Rebuilding(arrays, tensor).value(tree)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise Malformed(f"{type(error).__name__}: {error}") from error


class _Rebuilding:
    """Restores values from trees."""

    def __init__(self, arrays: Mapping[str, Array], tensor: Callable[[Array], Value]) -> None:
        self._arrays, self._tensor = arrays, tensor

    def value(self, tree: Foreign) -> Value:
        if isinstance(tree, list):
            return self._several(tree)
        if not isinstance(tree, dict):
            return tree
        kind = next(iter(tree), "")
        if kind in _SIMPLE:
            return _SIMPLE[kind](tree[kind])
        if kind in _SEQUENCES:
            return _SEQUENCES[kind](self._several(tree[kind]))
        if kind in ("tensor", "array", "scalar", "words"):
            return self._array(kind, tree)
        if kind == "dict":
            return dict(self._pairs(tree[kind]))
        return self._of_a_class(kind, tree)

    def _several(self, trees: list[Foreign]) -> list[Value]:
        return [self.value(tree) for tree in trees]

    def _pairs(self, trees: list[Foreign]) -> list[tuple[Foreign, Value]]:
        return [(_hashable(self.value(key)), self.value(item)) for key, item in trees]

    def _array(self, kind: str, tree: Mapping[str, Foreign]) -> Value:
        if kind == "words":
            array, kind = np.array([str(word) for word in tree["words"]], "U").reshape(tree["shape"]), tree["as"]
        else:
            array = self._arrays[tree[kind]]
        if kind == "scalar":
            return array[()]
        order = tree.get("order", list(range(array.ndim)))
        ordered = array.transpose(order)
        made: Value = self._tensor(ordered) if kind == "tensor" else np.array(ordered, order="C")
        if "order" not in tree:
            return made
        back = [int(axis) for axis in np.argsort(order)]
        return made.permute(back) if kind == "tensor" else made.transpose(back)

    def _of_a_class(self, kind: str, tree: Mapping[str, Foreign]) -> Value:
        cls = _class_named(str(tree["class"]), kind)
        if kind == "named":
            return tuple.__new__(cls, self._several(tree[kind]))
        if kind == "object":
            made = object.__new__(cls)
            _fill(made, self._pairs(tree[kind]))
            return made
        nearest = next(base for base in _DICTIONARIES if issubclass(cls, base))
        dictionary: Foreign = nearest.__new__(cls)
        for key, item in self._pairs(tree[kind]):
            nearest.__setitem__(dictionary, key, item)
        if isinstance(dictionary, defaultdict):
            dictionary.default_factory = _FACTORIES.get(str(tree["factory"]))
        _fill(dictionary, self._pairs(tree["held"]))
        return dictionary


_SIMPLE: Final[dict[str, Callable[[Foreign], Foreign]]] = {
    "float": float,
    "int": int,
    "complex": complex,
    "bytes": base64.b64decode,
}
_SEQUENCES: Final[dict[str, Callable[[list[Foreign]], Foreign]]] = {kind.__name__: kind for kind in _LISTS}


def _fill(made: object, attributes: Iterable[tuple[Foreign, Foreign]]) -> None:
    """Set attributes without calling the class's own ``__setattr__``."""
    slots = set(_slots(type(made)))
    for name, value in attributes:
        if name in slots:
            object.__setattr__(made, name, value)
        else:
            vars(made)[str(name)] = value


def _hashable(key: Foreign) -> Foreign:
    return tuple(key) if isinstance(key, list) else key


def _class_named(name: str, kind: str) -> Foreign:
    """A class among those already imported; nothing is imported."""
    module, _, path = name.partition(":")
    cls: Foreign = sys.modules.get(module)
    for part in path.split("."):
        cls = vars(cls).get(part) if isinstance(cls, type | ModuleType) else None
    fits = isinstance(cls, type) and (
        (kind == "mapping" and issubclass(cls, dict) and not hasattr(cls, "__del__"))
        or (kind == "named" and issubclass(cls, tuple) and hasattr(cls, "_fields"))
        or (kind == "object" and _can_be_filled(cls))
    )
    if not fits:
        raise Unfit(name)
    return cls
