"""A module with one change made: rebuilt with other arguments, of another class, with other attributes or tensors."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from trueline.adapters.nouns import Network
from trueline.adapters.protocol import Adapter
from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.pair.questions.module_run import Change


@dataclass(frozen=True, slots=True)
class Changing:
    """A change to one module of a model, which stays as it was; ``lacking`` is what a changed one has more."""

    adapter: Adapter
    module: Network
    change: Change
    lacking: Mapping[str, Array]

    def made(self) -> Network:
        """The module, or a new one in its place."""
        if self.change.build:
            return self._of_class(self.change.build, _tuples(self.change.arguments))
        if self.change.arguments:
            return self.adapter.build.rebuild(self.module, **self._in_place(_tuples(self.change.arguments)))
        return self.module

    @contextmanager
    def applied(self, module: Network) -> Iterator[None]:
        """In the block its attributes and tensors have the other values too."""
        with self._set(module), self._assigned(module):
            yield

    def padded(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """The first input with a border, where one is asked for."""
        pads = self.change.pads
        if not pads:
            return inputs
        first = inputs[0]
        whole = [(0, 0)] * (first.ndim - len(pads)) + list(pads)
        return [np.pad(first, whole, constant_values=self.change.pad_value), *inputs[1:]]

    def _in_place(self, changes: dict[str, object]) -> dict[str, object]:
        """Changes of a constructor that takes all it is given as ``*args`` and ``**kwargs``."""
        names, built = self.change.positional, self.adapter.build.built(self.module)
        parameters = inspect.signature(type(self.module).__init__).parameters
        if built is None or not names or not {"args", "kwargs"} <= set(parameters):
            return changes
        before = dict(zip(names, built.arguments.get("args", ()), strict=False))
        return {"args": (), "kwargs": {**before, **built.arguments.get("kwargs", {}), **changes}}

    def _of_class(self, name: str, arguments: dict[str, object]) -> Network:
        """A module of another class of the framework, with the tensors that it shares with the one in its place."""
        package, _, word = name.rpartition(".")
        values = self.adapter.values
        made = getattr(sys.modules[package], word)(**arguments)
        old = {tensor.name: tensor.value for tensor in values.tensors(self.module)}
        for tensor in values.tensors(made):
            before = old.get(tensor.name)
            if before is not None and values.shape(before) == values.shape(tensor.value):
                values.assign(tensor.value, values.to_numpy(before, copy=True))
        return made

    @contextmanager
    def _set(self, module: Network) -> Iterator[None]:
        before = {name: getattr(module, name) for name in self.change.sets}
        for name, value in self.change.sets.items():
            setattr(module, name, _as_tuple(value) if isinstance(before[name], tuple) else value)
        try:
            yield
        finally:
            for name, value in before.items():
                setattr(module, name, value)

    @contextmanager
    def _assigned(self, module: Network) -> Iterator[None]:
        values = self.adapter.values
        own = {tensor.name: tensor.value for tensor in values.tensors(module)}
        before = {tensor.name: values.shape(tensor.value) for tensor in values.tensors(self.module)}
        fresh = {
            name: array
            for name, array in self.lacking.items()
            if name in own and before.get(name) != values.shape(own[name])
        }
        wanted = {name: array for name, array in {**fresh, **self.change.tensors}.items() if name in own}
        kept = {name: values.to_numpy(own[name], copy=True) for name in wanted}
        for name, array in wanted.items():
            values.assign(own[name], array.reshape(values.shape(own[name])))
        try:
            yield
        finally:
            for name, array in kept.items():
                values.assign(own[name], array)


def _as_tuple(value: Json) -> tuple[Json, ...]:
    if not isinstance(value, Sequence):
        raise TypeError(f"{type(value).__name__} for a tuple")
    return tuple(value)


def _tuples(values: Mapping[str, Json]) -> dict[str, object]:
    """JSON has lists where constructors want tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
