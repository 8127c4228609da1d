"""Which loaders feed training: their batches are followed by a backward pass, those of an evaluation are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trueline.adapters.nouns import Loader, Value
from trueline.adapters.tree import leaves


@dataclass
class _Fed:
    """A loader's batches: how many were fetched, and how many trained on.

    ``waiting`` is how many samples the one has that was fetched last, ``samples`` those of this time through the data.
    """

    fetched: int = 0
    used: int = 0
    waiting: int | None = None
    samples: int = 0

    @property
    def trains(self) -> bool:
        """The last batch of an evaluation that is broken off may look like one to train on; the others do not."""
        return self.used * 2 >= self.fetched


class Feeding:
    """Told of batches and of backward passes."""

    def __init__(self) -> None:
        self._loaders: dict[int, _Fed] = {}

    def fetched(self, loader: Loader, batch: Value) -> None:
        """A batch is there."""
        found = self._loaders.setdefault(id(loader), _Fed())
        found.fetched += 1
        found.waiting = samples_in(batch)
        found.samples += found.waiting

    def ended(self, loader: Loader) -> int:
        """A loader has no more: how many samples were evaluated with it, 0 where they were trained on."""
        found = self._loaders.get(id(loader), _Fed())
        samples, found.samples, found.waiting = found.samples, 0, None
        return 0 if found.trains else samples

    @property
    def has_loaders(self) -> bool:
        """Whether any loader was seen."""
        return bool(self._loaders)

    def trained(self) -> Iterator[tuple[int, int]]:
        """A backward pass: the loaders (by id) whose batches wait for it, and how many samples each has given."""
        waiting = {key: fed for key, fed in self._loaders.items() if fed.waiting is not None}
        for fed in waiting.values():
            fed.used += 1
        for key, fed in waiting.items():
            if fed.trains:
                yield key, fed.waiting or 0
            fed.waiting = None

    def surely(self, loader: int) -> bool:
        """Whether a loader has fed training more than once."""
        return self._loaders[loader].used > 1 and self._loaders[loader].trains


def samples_in(batch: Value) -> int:
    """How many samples a batch has: the length of the first array in it that has one."""
    for _, array in leaves(batch, _is_array):
        if len(array.shape):
            return int(array.shape[0])
    return 0


def _is_array(value: object) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")
