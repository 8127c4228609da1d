"""Description of a pipeline step: its name, plain settings, and definition line if it is the user's code."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum
from types import ModuleType
from typing import Final

import numpy as np

from trueline.adapters.nouns import Foreign, Value
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.model.numbers import plain

# What MindSpore's transforms hold of themselves that no user has set.
_INTERNAL: Final = ("implementation", "device_target", "random", "callable_op_", "transform_mode")
_PLAIN: Final = (bool, int, float, str)
# Bounds an object that holds itself.
_MAX_DEPTH: Final = 6
# Of a longer list the first stand for all.
_MAX_LISTED: Final = 64


def name_of(step: Foreign) -> str:
    """The name of a function, else of the class."""
    kind: Foreign = step if hasattr(step, "__qualname__") else type(step)
    return str(kind.__qualname__).replace("<locals>.", "")


def settings_of(step: Foreign) -> dict[str, Json]:
    """The plain attributes of a step; none for a function."""
    held = {} if hasattr(step, "__code__") else getattr(step, "__dict__", {})
    return {
        name: value.name if isinstance(value, Enum) else plain(value)
        for name, value in held.items()
        if _shown(name, value)
    }


def objects_in(value: object, depth: int = 0) -> Iterator[Foreign]:
    """A user's object and the objects it holds."""
    if depth > _MAX_DEPTH or value is None:
        return
    if isinstance(value, list | tuple):
        for part in value[:_MAX_LISTED]:
            yield from objects_in(part, depth + 1)
        return
    if not hasattr(value, "__dict__") or isinstance(value, type | ModuleType) or hasattr(value, "__code__"):
        return
    yield value
    for part in list(vars(value).values()):
        yield from objects_in(part, depth + 1)


def line_of(value: Value) -> Location | None:
    """The line where a function or class is defined."""
    try:
        file = inspect.getsourcefile(value)
        line = value.__code__.co_firstlineno if inspect.isfunction(value) else inspect.getsourcelines(value)[1]
    except (TypeError, OSError):
        return None
    return Location(file, line) if file is not None else None


def defined(step: Foreign, package: str) -> Location | None:
    """The user's line where a step's function or class is defined."""
    line = line_of(step if hasattr(step, "__code__") else type(step))
    if line is None or line.file.startswith(package) or "site-packages" in line.file:
        return None
    return line


def _shown(name: str, value: Value) -> bool:
    empty = isinstance(value, list) and not value
    return not name.startswith(("_", "py_")) and name not in _INTERNAL and not empty and _is_plain(value)


def _is_plain(value: Foreign) -> bool:
    if isinstance(value, list | tuple):
        return len(value) < 16 and all(map(_is_plain, value))
    if isinstance(value, np.ndarray) or (hasattr(value, "numel") and hasattr(value, "tolist")):
        return int(np.prod(tuple(value.shape))) < 16
    return isinstance(value, _PLAIN) or value is None or type(value).__module__.startswith(("mindspore", "torchvision"))
