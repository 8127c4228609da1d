"""Constructor arguments: captured without keeping tensors or modules alive, bound to names, and passed again."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from trueline.adapters.nouns import Built, Foreign, Function, Network
from trueline.adapters.patching import Patches
from trueline.model.describing import placeholder
from trueline.model.location import Location

# What is larger is data, and would be kept alive.
_MAX_ELEMENTS = 64
# Bounds an argument that holds itself.
_MAX_DEPTH = 16


class Arguments(NamedTuple):
    """The arguments of a call, and the user's line that made it."""

    args: tuple[Foreign, ...]
    kwargs: dict[str, Foreign]
    line: Location | None


class Placeholder(str):
    """Stands for an argument that is not captured (a tensor, a module): its type's name in angle brackets."""

    __slots__ = ()


def keep(value: object, is_heavy: Callable[[object], bool], depth: int = 0) -> object:
    """The value itself, or a Placeholder where it is heavy, too large, or raises when inspected."""
    try:
        return Placeholder(placeholder(value)) if depth > _MAX_DEPTH else _kept(value, is_heavy, depth + 1)
    except Exception:  # noqa: BLE001 - a value may answer with any error
        return Placeholder(placeholder(value))


def _kept(value: object, is_heavy: Callable[[object], bool], depth: int) -> object:
    if is_heavy(value) or (isinstance(value, np.ndarray) and value.size > _MAX_ELEMENTS):
        return Placeholder(placeholder(value))
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        if len(value) > _MAX_ELEMENTS:
            return Placeholder(placeholder(value))
        parts = [keep(part, is_heavy, depth) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, Mapping):
        return {name: keep(part, is_heavy, depth) for name, part in value.items()}
    return value


def keep_all(
    args: tuple[object, ...], kwargs: Mapping[str, object], line: Location | None, is_heavy: Callable[[object], bool]
) -> Arguments:
    """The arguments of a call, captured with its line."""
    return Arguments(
        tuple(keep(value, is_heavy) for value in args),
        {name: keep(value, is_heavy) for name, value in kwargs.items()},
        line,
    )


def describe(module: Network, kept: Arguments) -> Built:
    """The arguments by parameter name, defaults applied."""
    args, kwargs, line = kept
    try:
        bound = inspect.signature(type(module).__init__).bind(module, *args, **kwargs)
    except (TypeError, ValueError):
        return Built(type(module), dict(kwargs), line, complete=False)
    bound.apply_defaults()
    arguments = dict(list(bound.arguments.items())[1:])
    return Built(type(module), arguments, line, complete=not holds_placeholder(arguments))


def holds_placeholder(value: object) -> bool:
    """Whether some part of the value was not captured."""
    if isinstance(value, list | tuple):
        return any(map(holds_placeholder, value))
    if isinstance(value, Mapping):
        return any(map(holds_placeholder, value.values()))
    return isinstance(value, Placeholder)


def make_changed(kind: type, arguments: Mapping[str, Foreign], changes: Mapping[str, Foreign], package: str) -> Foreign:
    """Call a constructor with some arguments changed.

    What a user's class does not take itself, it fixes or passes on: there the constructor of the ``package``'s layer
    that it is receives the change, whatever the class gives it.
    """
    layer = next((base for base in kind.__mro__ if base.__module__.partition(".")[0] == package), kind)
    own, theirs = (inspect.signature(one.__init__).parameters for one in (kind, layer))  # type: ignore[misc]
    fixed = {name: value for name, value in changes.items() if name not in own and name in theirs}
    given = {**arguments, **{name: value for name, value in changes.items() if name not in fixed}}
    if not fixed or layer is kind:
        return make_again(kind, {**arguments, **changes})
    signature, done = inspect.signature(layer.__init__), False  # type: ignore[misc]

    def make(original: Function) -> Function:
        def init(module: Network, *args: Foreign, **kwargs: Foreign) -> None:
            nonlocal done
            if done or type(module) is not kind:
                original(module, *args, **kwargs)
                return
            done = True
            bound = signature.bind(module, *args, **kwargs)
            bound.arguments.update(fixed)
            original(*bound.args, **bound.kwargs)

        return init

    patches = Patches()
    patches.wrap(layer, "__init__", make)
    try:
        return make_again(kind, given)
    finally:
        patches.remove()


def make_again(kind: type, arguments: Mapping[str, Foreign]) -> Foreign:
    """Call a constructor with arguments by name, including those of ``*args`` and ``**kwargs``."""
    by_name = dict(arguments)
    positional: list[object] = []
    for name, parameter in inspect.signature(kind.__init__).parameters.items():  # type: ignore[misc]
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional = list(by_name.pop(name, ()))
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            by_name.update(by_name.pop(name, {}))
    return kind(*positional, **by_name)
