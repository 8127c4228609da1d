"""Random generators that belong to no framework: Python's, NumPy's, and those that the user's code holds by name."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any, Final

import numpy as np

from trueline.adapters.nouns import State
from trueline.adapters.protocol import Replays, Values
from trueline.adapters.saving import Saving, rebuilt
from trueline.record.keeping.scopes import scopes

_DEEPEST: Final = 4
_WIDEST: Final = 256
_MOST: Final = 20_000
_NOT_LOOKED_INTO: Final = (ModuleType, type, FunctionType, str, bytes, int, float, np.ndarray)


class Generators:
    """The generators that were found, and their states."""

    def __init__(self, replaying: Replays, values: Values) -> None:
        self._replaying, self._values = replaying, values
        self._named: dict[str, Any] = {}

    def find(self) -> None:
        """Look for generators in the user's functions that are running, and in the modules they belong to."""
        found: dict[str, Any] = {}
        seen: set[int] = set()
        for scope in scopes():
            for path, one in self._inside(dict(scope.variables), scope.name, seen, _DEEPEST):
                found.setdefault(path, one)
        self._named = found

    def _inside(self, value: Any, name: str, seen: set[int], depth: int) -> Iterator[tuple[str, Any]]:
        if id(value) in seen or len(seen) > _MOST or isinstance(value, _NOT_LOOKED_INTO):
            return
        seen.add(id(value))
        if self._is_generator(value):
            yield name, value
            return
        if depth == 0 or self._values.is_tensor(value):
            return
        for leaf, one in _parts(value):
            yield from self._inside(one, f"{name}.{leaf}", seen, depth - 1)

    def _is_generator(self, value: Any) -> bool:
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
        for name, one in self._named.items():
            plain[f"rng/user/{name}"] = saving.tree(self._state_of(one), f"rng/user/{name}")
        own = self._replaying.random()
        return State({**own.arrays, **saving.arrays}, {**own.plain, **plain}, saving.lost)

    def _state_of(self, generator: Any) -> Any:
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

        def kept(name: str) -> Any:
            return rebuilt(state.plain[name], state.arrays, self._values.from_numpy)

        _set_python(random, kept("rng/python"))
        np.random.set_state(kept("rng/numpy"))
        for name, one in self._named.items():
            if f"rng/user/{name}" in state.plain:
                self._set(one, kept(f"rng/user/{name}"))

    def _set(self, generator: Any, state: Any) -> None:
        if isinstance(generator, np.random.Generator):
            generator.bit_generator.state = state
        elif isinstance(generator, np.random.RandomState):
            generator.set_state(state)
        elif isinstance(generator, random.Random):
            _set_python(generator, state)
        else:
            self._replaying.set_generator(generator, state)


def _of_python(generator: Any) -> tuple[int, Any, float | None]:
    version, numbers, following = generator.getstate()
    return version, np.array(numbers, np.uint32), following


def _set_python(generator: Any, state: tuple[int, Any, float | None]) -> None:
    version, numbers, following = state
    generator.setstate((version, tuple(numbers.tolist()), following))


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        items = [(leaf, one) for leaf, one in list(value.items()) if isinstance(leaf, str | int)]
    elif isinstance(value, list | tuple):
        items = list(enumerate(value[:_WIDEST]))
    else:
        try:
            items = list(vars(value).items())
        except TypeError:
            return []
    return [(str(leaf), one) for leaf, one in items[:_WIDEST]]
