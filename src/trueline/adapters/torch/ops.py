"""Op level: every operator of forward and backward, with the user's line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import torch

from trueline.adapters.lines import user_line
from trueline.adapters.nouns import Alter, Foreign, Function, OpCall, Value
from trueline.adapters.patching import Patches
from trueline.adapters.settings import plain_settings
from trueline.adapters.torch import internals
from trueline.adapters.torch.build import PACKAGE
from trueline.adapters.torch.internals import (
    next_node_number,
    node_number,
    operator_name,
    operator_parameters,
    running_node,
)
from trueline.adapters.tree import leaves
from trueline.model.json_value import Json
from trueline.model.location import Location


class _Watching(internals.DispatchMode):
    def __init__(self, callback: Callable[[OpCall], None], alter: Alter | None = None) -> None:
        super().__init__()
        self._callback, self._alter = callback, alter
        self._newest = next_node_number() - 1

    def __torch_dispatch__(self, func: Foreign, types: object, args: Value = (), kwargs: Value = None) -> Value:
        if self._alter is not None:
            changed = self._alter(operator_name(func), user_line(PACKAGE), _settings(func, args, kwargs or {}))
            args, kwargs = _with(func, args, kwargs or {}, changed) if changed else (args, kwargs)
        output = func(*args, **(kwargs or {}))
        made_by = running_node()
        # A node is made, and numbered, before its operator comes by here.
        newest = next_node_number() - 1
        node = newest if made_by is None else node_number(made_by)
        recorded, self._newest = made_by is None and newest > self._newest, newest
        self._callback(
            OpCall(
                operator_name(func),
                [tensor for _, tensor in leaves((args, kwargs), torch.is_tensor)],
                [tensor for _, tensor in leaves(output, torch.is_tensor)],
                user_line(PACKAGE),
                backward=made_by is not None,
                settings=_settings(func, args, kwargs or {}),
                node=node,
                recorded=recorded,
            )
        )
        return output


class _BesideCompiled(internals.BesideCompiler, _Watching):
    """The same where torch's compiler is loaded: it leaves this code alone."""

    def __torch_dispatch__(self, func: Foreign, types: object, args: Value = (), kwargs: Value = None) -> Value:
        return super().__torch_dispatch__(func, types, args, kwargs)


class _Looking(_Watching):
    """The same, but for what is compiled."""

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True


class _LookingBesideCompiled(_BesideCompiled):
    """The same where torch's compiler is loaded."""

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        return True


def _settings(func: Foreign, args: Value, kwargs: Value) -> dict[str, Json]:
    parameters = operator_parameters(func)
    given = {name: value for (name, _), value in zip(parameters, args, strict=False)}
    return plain_settings({**dict(parameters), **given, **kwargs})


def _with(func: Foreign, args: Value, kwargs: Value, changed: Mapping[str, Json]) -> tuple[Value, Value]:
    """The arguments, some of them changed."""
    names = [name for name, _ in operator_parameters(func)]
    placed = [changed.get(name, value) for name, value in zip(names, args, strict=False)]
    return placed, {**kwargs, **{name: value for name, value in changed.items() if name not in names[: len(args)]}}


@contextmanager
def watch(callback: Callable[[OpCall], None], alter: Alter | None = None) -> Iterator[None]:
    """Report every operator call in this block."""
    kind = _BesideCompiled if internals.is_compiler_loaded() else _Watching
    with kind(callback, alter):
        yield


def begin(callback: Callable[[OpCall], None]) -> Callable[[], bool] | None:
    """Report every operator call from now on but those of compiled code, which stays compiled.

    Not where the script has a mode of its own that sees operators, nor inside a block at whose end the framework puts
    back how operators are dispatched: what began or ended in it would come back, or be gone.
    """
    if (
        _puts_back()
        or internals.dispatch_modes()
        or (internals.is_compiler_loaded() and not internals.MODES_LET_COMPILE)
    ):
        return None
    on = True

    def receive(call: OpCall) -> None:
        if on:
            callback(call)

    looking = (_LookingBesideCompiled if internals.is_compiler_loaded() else _Looking)(receive)
    looking.__enter__()

    def end() -> bool:
        nonlocal on
        on = False
        # A mode leaves from the top: one that the script has entered since goes first.
        if _puts_back() or internals.dispatch_modes()[-1:] != [looking]:
            return False
        looking.__exit__(None, None, None)
        return True

    return end


def _puts_back() -> bool:
    """Whether inference mode is on, or a function transform at work."""
    return torch.is_inference_mode_enabled() or internals.innermost_transform() is not None


@contextmanager
def making(callback: Callable[[Value, Location | None], None]) -> Iterator[None]:
    """Report every tensor that is made of data in this block."""

    def make(original: Function) -> Function:
        def made(*args: object, **kwargs: object) -> Value:
            tensor = original(*args, **kwargs)
            callback(tensor, user_line(PACKAGE))
            return tensor

        return made

    patches = Patches()
    for name in ("tensor", "as_tensor", "from_numpy"):
        patches.wrap(torch, name, make)
    try:
        yield
    finally:
        patches.remove()
