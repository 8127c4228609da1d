"""The state before a step, kept in memory so that the step can be done again."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.adapters.nouns import Loader, Value
from trueline.adapters.plain import plain_values
from trueline.adapters.protocol import Adapter, Values
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array

# A state that is larger is kept before every so many steps only, and all steps since are done again.
_LARGE_STATE_BYTES: Final = 16 << 20
_LARGE_STATE_STEPS: Final = 6


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a loader has handed out, in containers of its own: scripts take things out of a batch."""

    loader: Loader
    batch: Value
    indexes: Sequence[int] | None
    _versions: Sequence[int | None]

    @classmethod
    def of(cls, loader: object, batch: object, indexes: Sequence[int] | None, values: Values) -> Fetched:
        """As it is handed out now."""
        kept = _same_in_new_containers(batch)
        return cls(loader, kept, indexes, _versions(kept, values))

    def is_intact(self, values: Values) -> bool:
        """Whether no tensor in it has been written since."""
        return _versions(self.batch, values) == self._versions


def _versions(batch: object, values: Values) -> list[int | None]:
    return [values.version(one) for _, one in leaves(batch, values.is_tensor)]


def _same_in_new_containers(batch: Value) -> Value:
    if isinstance(batch, MutableMapping):
        found = copy.copy(batch)
        for name, one in batch.items():
            found[name] = _same_in_new_containers(one)
        return found
    if type(batch) in (list, tuple):
        return type(batch)(map(_same_in_new_containers, batch))
    return batch


class Snapshot:
    """Networks, optimizers, what counts beside them, and random generators of one framework.

    ``fetched`` are the batches that came since.
    """

    def __init__(self, adapter: Adapter) -> None:
        self.fetched: list[Fetched] = []
        self._steps = 0
        self._expired = False
        self._kept = adapter.replaying.keeper()
        self._python: tuple[object, ...] | None = None
        self._numpy: Mapping[str, object] | None = None
        self._values = adapter.values
        self._counting: list[tuple[object, Mapping[str, object], Mapping[str, Array]]] = []

    @property
    def is_due(self) -> bool:
        """Whether the state is to be kept anew before the next step."""
        return self._expired or not self.whole or self.bytes <= _LARGE_STATE_BYTES or self._steps >= _LARGE_STATE_STEPS

    def take(self, networks: Sequence[object], optimizers: Sequence[object], counting: Sequence[object]) -> None:
        """As everything is now, instead of what was kept before; ``counting`` are schedules and loss scalers."""
        self.fetched, self._steps, self._expired = [], 0, False
        self._kept.take(networks, optimizers)
        self._python, self._numpy = random.getstate(), np.random.get_state(legacy=False)
        self._counting = [(one, plain_values(one), self._arrays(one)) for one in counting]

    def stepped(self) -> None:
        """A step was made since."""
        self._steps += 1

    def expire(self) -> None:
        """It is to be kept anew before the next step in any case."""
        self._expired = True

    def forget(self) -> None:
        """Nothing is kept any more."""
        self.fetched, self._python = [], None

    @property
    def whole(self) -> bool:
        """Whether nothing was left out that the step depends on."""
        return self._python is not None and self._kept.whole

    @property
    def bytes(self) -> int:
        """How much memory it takes."""
        return self._kept.bytes

    def restore(self) -> None:
        """Bring everything back in place."""
        self._kept.restore()
        assert self._python is not None and self._numpy is not None
        random.setstate(self._python)
        np.random.set_state(dict(self._numpy))
        for one, plain, arrays in self._counting:
            vars(one).update(plain)
            for name, array in arrays.items():
                self._values.assign(vars(one)[name], array)

    def _arrays(self, counting: object) -> dict[str, Array]:
        found = {name: var for name, var in vars(counting).items() if self._values.is_tensor(var)}
        return {name: self._values.to_numpy(one, copy=True) for name, one in found.items()}
