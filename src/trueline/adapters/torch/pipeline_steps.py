"""The transforms and nested datasets of a dataset: found among its attributes and routed through a meter."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Final

import numpy as np
import torch
from torch import nn
from torch.utils.data import Dataset

from trueline.adapters.nouns import Foreign, Function, Loader, Value
from trueline.adapters.pipeline import BuiltAt, Meter, Operator
from trueline.adapters.steps import defined, name_of, settings_of
from trueline.adapters.torch.build import package
from trueline.adapters.torch.internals import SUBMODULES
from trueline.adapters.user_code import line_of_users_function
from trueline.model.location import Location

# Those that do nothing but call the others.
_GROUPS: Final = ("compose", "sequential", "standardtransform", "modulelist", "pipeline")
# Bounds datasets and steps that hold themselves.
_MAX_DEPTH: Final = 8
# What can be replaced by another function without anyone noticing.
_FUNCTIONS: Final = (FunctionType, MethodType, functools.partial, np.ufunc)


class Steps:
    """Wraps transforms and datasets; ``remove`` restores them."""

    def __init__(self, meter: Meter, built: BuiltAt) -> None:
        self._meter, self._built = meter, built
        self._done: set[int] = set()
        self._undo: list[Callable[[], None]] = []
        self.calls: dict[int, Function] = {}

    @staticmethod
    def datasets(dataset: Loader, depth: int = 0) -> Iterator[Loader]:
        """The dataset and those it draws from."""
        yield dataset
        if depth >= _MAX_DEPTH:
            return
        for value in list(getattr(dataset, "__dict__", {}).values()):
            for part in value if isinstance(value, list | tuple) else [value]:
                if _is_dataset(part):
                    yield from Steps.datasets(part, depth + 1)

    def inside(self, dataset: Loader) -> None:
        """Wrap the transforms of a dataset, and the datasets it draws from."""
        if id(dataset) in self._done:
            return
        self._done.add(id(dataset))
        held = getattr(dataset, "__dict__", {})
        for value in list(held.values()):
            for part in value if isinstance(value, list | tuple) else [value]:
                if _is_dataset(part):
                    self.inside(part)
                    self._swap(part, "__getitem__", self.dataset_operator(part, "__getitem__"))
        self._attributes(dataset, 0)

    def dataset_operator(self, dataset: Loader, method: str) -> Operator:
        """The operator of a dataset itself."""
        function = getattr(type(dataset), method, None)
        line = line_of_users_function(function, package()) or self._built(dataset)
        return Operator(type(dataset).__name__, "dataset", {}, line)

    def remove(self) -> None:
        """Restore all objects."""
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()

    def _put(self, held: dict[str, Foreign], name: str, value: Foreign) -> None:
        if name in held:
            before = held[name]
            self._undo.append(lambda: held.__setitem__(name, before))
        else:
            # It is the class's own.
            self._undo.append(lambda: held.pop(name, None))
        held[name] = value

    def _step(self, step: Foreign, depth: int = 0) -> Foreign:
        """The step routed through the meter: the same object where its class can be swapped, else a replacement."""
        if id(step) in self._done or depth > _MAX_DEPTH:
            return step
        if isinstance(step, (type, *_FUNCTIONS)) or inspect.isroutine(step):
            return self._around(step)
        if not hasattr(step, "__dict__"):
            # A connection, a reference: it can be called, and is there for other things.
            return step
        self._done.add(id(step))
        holds = self._held_by(step, depth)
        kind = "group" if holds and _groups(step) else "step"
        operator = Operator(name_of(step), kind, settings_of(step), self._line(step))
        self._swap(step, "__call__", operator)
        return step

    def _held_by(self, step: Foreign, depth: int) -> bool:
        """Whether a step holds others; they are wrapped too."""
        holds = self._attributes(step, depth)
        children = vars(step).get(SUBMODULES) if isinstance(step, nn.Module) else None
        for name, child in list((children or {}).items()):
            if child is not None:
                self._put(children or {}, name, self._step(child, depth + 1))
                holds = True
        return holds

    def _attributes(self, owner: Foreign, depth: int) -> bool:
        """Wrap callables, and lists of them, among the attributes of an object and its class."""
        holds = False
        held = getattr(owner, "__dict__", {})
        for name, value in [*_of_class(owner), *held.items()]:
            if name.startswith("_"):
                continue
            made = self._wrapped(value, depth)
            holds = holds or made is not None
            if made is not None and made is not value:
                self._put(held, name, made)
        return holds

    def _wrapped(self, value: Foreign, depth: int) -> Foreign:
        """The replacement of a value, possibly itself; None where it contains nothing callable."""
        if _is_step(value) and not isinstance(value, type):
            return self._step(value, depth + 1)
        if isinstance(value, list | tuple) and value and all(map(_is_step, value)) and not hasattr(value, "_fields"):
            made = [self._step(part, depth + 1) for part in value]
            return value if all(a is b for a, b in zip(made, value, strict=True)) else type(value)(made)
        return None

    def _line(self, step: Foreign) -> Location | None:
        return self._built(step) or defined(step, package())

    def _around(self, step: Foreign) -> Function:
        function = step.func if isinstance(step, functools.partial) else step
        operator = Operator(name_of(function), "step", settings_of(step), defined(function, package()))
        place, meter = self._meter.operator(operator), self._meter
        self.calls[place] = step

        def call(*args: object, **kwargs: object) -> Value:
            return meter.run(place, lambda: step(*args, **kwargs), args)

        return call

    def _swap(self, value: Foreign, method: str, operator: Operator) -> bool:
        """Give an object a subclass that calls through the meter; its attributes and identity are unchanged."""
        kind = type(value)
        original = getattr(kind, method)
        place: list[int] = []
        meter = self._meter

        def call(this: object, *args: Value, **kwargs: Value) -> Value:
            if this is not value or not place:
                return original(this, *args, **kwargs)
            return meter.run(place[0], lambda: original(this, *args, **kwargs), args if method == "__call__" else None)

        names = {method: call, "__module__": kind.__module__, "__qualname__": kind.__qualname__}
        try:
            value.__class__ = type(kind.__name__, (kind,), names)
        except TypeError:
            return False
        place.append(meter.operator(operator))
        self.calls[place[0]] = functools.partial(original, value)
        self._undo.append(lambda: setattr(value, "__class__", kind))
        return True


def _is_dataset(value: object) -> bool:
    if isinstance(value, Dataset):
        return True
    plain = isinstance(value, list | tuple | dict | str | bytes | np.ndarray | torch.Tensor | type | nn.Module)
    own = type(value).__module__ not in ("builtins", "collections", "numpy", "pandas.core.frame", "pandas.core.series")
    return not plain and own and all(hasattr(type(value), name) for name in ("__getitem__", "__len__"))


def _is_step(value: object) -> bool:
    """Whether this is a callable that may process samples."""
    if not callable(value) or isinstance(value, ModuleType):
        return False
    return not _is_dataset(value) and not isinstance(value, torch.Generator | np.random.Generator)


def _of_class(owner: object) -> list[tuple[str, Foreign]]:
    """Steps that a user's class holds as class attributes: lists of steps, and callable objects."""
    held: dict[str, Foreign] = {}
    for kind in reversed(type(owner).__mro__):
        if kind.__module__.partition(".")[0] in ("builtins", "torch", "typing"):
            continue
        for name, value in vars(kind).items():
            is_list = isinstance(value, list | tuple)
            if (
                name in getattr(owner, "__dict__", {})
                or name.startswith("_")
                or inspect.isroutine(value)
                or isinstance(value, type)
            ):
                continue
            if is_list or (callable(value) and not isinstance(value, property | staticmethod | classmethod)):
                held[name] = value
    return list(held.items())


def _groups(step: Foreign) -> bool:
    return any(word in type(step).__name__.lower() for word in _GROUPS)
