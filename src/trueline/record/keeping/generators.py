"""Random generators that belong to no framework: Python's, NumPy's, and those that the user's code holds by name."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Final

import numpy as np

from trueline.adapters.nouns import State, Value
from trueline.adapters.protocol import Replays, Values
from trueline.adapters.saving import Saving, rebuilt
from trueline.kernel.array import Array
from trueline.record.keeping.scopes import scopes

_MAX_DEPTH: Final = 4
_MAX_WIDTH: Final = 256
_MAX_VISITED: Final = 20_000  # objects; bounds a search through all that a script holds
_NOT_LOOKED_INTO: Final = (ModuleType, type, FunctionType, str, bytes, int, float, np.ndarray)


class Generators:
    """The generators that were found, and their states."""

    def __init__(self, replaying: Replays, values: Values) -> None:
        self._replaying, self._values = replaying, values
        self._named: dict[str, object] = {}

    def find(self) -> None:
        """Look for generators in the user's functions that are running, and in the modules they belong to."""
        found: dict[str, object] = {}
        seen: set[int] = set()
        for scope in scopes():
            for path, generator in self._inside(dict(scope.variables), scope.name, seen, _MAX_DEPTH):
                found.setdefault(path, generator)
        self._named = found

    def _inside(self, value: object, name: str, seen: set[int], depth: int) -> Iterator[tuple[str, object]]:
        if id(value) in seen or len(seen) > _MAX_VISITED or isinstance(value, _NOT_LOOKED_INTO):
            return
        seen.add(id(value))
        if self._is_generator(value):
            yield name, value
            return
        if depth == 0 or self._values.is_tensor(value):
            return
        for leaf, part in _parts(value):
            yield from self._inside(part, f"{name}.{leaf}", seen, depth - 1)

    def _is_generator(self, value: object) -> bool:
        if isinstance(value, random.Random):
            return not isinstance(value, random.SystemRandom)
        return isinstance(value, np.random.Generator | np.random.RandomState) or (
            self._replaying.generator_state(value) is not None
        )

    def state(self) -> State:
        """The framework's generators, Python's, NumPy's and those with names."""
        saving = Saving(self._values)
        plain = {
            "rng/python": saving.tree(_of_python(random), "rng/python"),
            "rng/numpy": saving.tree(np.random.get_state(), "rng/numpy"),
        }
        for name, generator in self._named.items():
            plain[f"rng/user/{name}"] = saving.tree(self._state_of(generator), f"rng/user/{name}")
        own = self._replaying.random()
        return State({**own.arrays, **saving.arrays}, {**own.plain, **plain}, saving.lost)

    def _state_of(self, generator: object) -> object:
        if isinstance(generator, np.random.Generator):
            return generator.bit_generator.state
        if isinstance(generator, np.random.RandomState):
            return generator.get_state()
        if isinstance(generator, random.Random):
            return _of_python(generator)
        return self._replaying.generator_state(generator)

    def restore(self, state: State) -> None:
        """Bring all of them back; those that this process has not got are left out."""
        self._replaying.set_random(state)

        def kept(name: str) -> Value:
            return rebuilt(state.plain[name], state.arrays, self._values.from_numpy)

        _set_python(random, kept("rng/python"))
        np.random.set_state(kept("rng/numpy"))
        for name, generator in self._named.items():
            if f"rng/user/{name}" in state.plain:
                self._set(generator, kept(f"rng/user/{name}"))

    def _set(self, generator: object, state: Value) -> None:
        if isinstance(generator, np.random.Generator):
            generator.bit_generator.state = state
        elif isinstance(generator, np.random.RandomState):
            generator.set_state(state)
        elif isinstance(generator, random.Random):
            _set_python(generator, state)
        else:
            self._replaying.set_generator(generator, state)


def _of_python(generator: random.Random | ModuleType) -> tuple[int, Array, float | None]:
    version, numbers, following = generator.getstate()
    return version, np.array(numbers, np.uint32), following


def _set_python(generator: random.Random | ModuleType, state: tuple[int, Array, float | None]) -> None:
    version, numbers, following = state
    generator.setstate((version, tuple(numbers.tolist()), following))


def _parts(value: object) -> list[tuple[str, object]]:
    if isinstance(value, Mapping):
        items = [(leaf, part) for leaf, part in list(value.items()) if isinstance(leaf, str | int)]
    elif isinstance(value, list | tuple):
        items = list(enumerate(value[:_MAX_WIDTH]))
    else:
        try:
            items = list(vars(value).items())
        except TypeError:
            return []
    return [(str(leaf), part) for leaf, part in items[:_MAX_WIDTH]]
