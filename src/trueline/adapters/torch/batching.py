"""Batch sizes of loaders, reported at construction and replaced on request."""

from __future__ import annotations

from collections.abc import Sequence

from torch.utils.data import DataLoader

from trueline.adapters.batchers import Batchers, Resize, building
from trueline.adapters.nouns import Loader
from trueline.adapters.patching import Placed
from trueline.adapters.torch.build import PACKAGE


class _Watching(Placed):
    def __init__(self, resize: Resize) -> None:
        super().__init__()
        self._batchers = Batchers(resize, PACKAGE)
        self.patches.wrap(DataLoader, "__init__", building(self._batchers, lambda: self.switch.on))

    def behind(self, loader: Loader) -> Sequence[int]:
        """The numbers of the batchers behind a loader's batches."""
        number = self._batchers.number(loader)
        return [] if number is None else [number]


def watch(resize: Resize) -> _Watching:
    """Ask ``resize`` for the size of every batcher constructed from now on."""
    return _Watching(resize)
