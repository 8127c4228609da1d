"""The toy's batch sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adapters.numpy_toy import build, framework

from trueline.adapters.batchers import Batchers, Resize, building
from trueline.adapters.patching import Placed
from trueline.adapters.protocol import Batching


class _Watching(Placed):
    def __init__(self, resize: Resize) -> None:
        super().__init__()
        self._batchers = Batchers(resize, build.package())
        self.patches.wrap(framework.Loader, "__init__", building(self._batchers, lambda: self.switch.on))

    def behind(self, loader: Any) -> Sequence[int]:
        found = self._batchers.number(loader)
        return [] if found is None else [found]


def watch(resize: Resize) -> Batching:
    """Ask for the size of every loader that is built from now on."""
    return _Watching(resize)
