"""A constructor's arguments: kept without keeping tensors or modules alive, named, and given again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from trueline.adapters.nouns import Built
from trueline.model.describing import placeholder
from trueline.model.location import Location

_MANY = 64
_DEEPEST = 16
Arguments = tuple[tuple[Any, ...], dict[str, Any], Location | None]


class Placeholder(str):
    """Stands for an argument that is not kept, a tensor or a module: its type's name in angle brackets."""

    __slots__ = ()


def keep(value: Any, is_heavy: Callable[[Any], bool], depth: int = 0) -> Any:
    """The value itself, or a Placeholder where it is heavy, holds too much, or does not let itself be looked at."""
    try:
        return Placeholder(placeholder(value)) if depth > _DEEPEST else _kept(value, is_heavy, depth + 1)
    except Exception:  # noqa: BLE001 - a value may answer with any error
        return Placeholder(placeholder(value))


def _kept(value: Any, is_heavy: Callable[[Any], bool], depth: int) -> Any:
    if is_heavy(value) or (isinstance(value, np.ndarray) and value.size > _MANY):
        return Placeholder(placeholder(value))
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        if len(value) > _MANY:
            return Placeholder(placeholder(value))
        parts = [keep(one, is_heavy, depth) for one in value]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, Mapping):
        return {name: keep(one, is_heavy, depth) for name, one in value.items()}
    return value


def keep_all(
    args: tuple[Any, ...], kwargs: Mapping[str, Any], line: Location | None, is_heavy: Callable[[Any], bool]
) -> Arguments:
    """A call's arguments and its line."""
    return tuple(keep(one, is_heavy) for one in args), {name: keep(one, is_heavy) for name, one in kwargs.items()}, line


def describe(module: Any, found: Arguments) -> Built:
    """The arguments by name, with defaults filled in."""
    args, kwargs, line = found
    try:
        bound = inspect.signature(type(module).__init__).bind(module, *args, **kwargs)
    except (TypeError, ValueError):
        return Built(type(module), dict(kwargs), line, complete=False)
    bound.apply_defaults()
    arguments = dict(list(bound.arguments.items())[1:])
    return Built(type(module), arguments, line, complete=not holds_placeholder(arguments))


def holds_placeholder(value: Any) -> bool:
    """Whether something in the value was not kept."""
    if isinstance(value, list | tuple):
        return any(map(holds_placeholder, value))
    if isinstance(value, Mapping):
        return any(map(holds_placeholder, value.values()))
    return isinstance(value, Placeholder)


def make_again(kind: type, arguments: Mapping[str, Any]) -> Any:
    """Call a constructor with arguments by name, those of ``*args`` and ``**kwargs`` put where they belong."""
    by_name = dict(arguments)
    positional: list[Any] = []
    for name, parameter in inspect.signature(kind.__init__).parameters.items():  # type: ignore[misc]
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional = list(by_name.pop(name, ()))
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            by_name.update(by_name.pop(name, {}))
    return kind(*positional, **by_name)
