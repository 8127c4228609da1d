"""What a script is doing when it draws: building, fetching data or training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trueline.adapters.nouns import Loader, Network, Value
from trueline.record.observers import SilentObserver
from trueline.repro.tap import Tap


class Moments(SilentObserver):
    """Says so to the tap; heard before the recording."""

    def __init__(self, tap: Tap) -> None:
        self._tap = tap

    def fetch_began(self, loader: Loader) -> None:
        self._tap.fetching = True

    def fetched(self, loader: Loader, batch: Value, indexes: Sequence[int] | None) -> None:
        self._tap.fetching = False

    def loader_ended(self, loader: Loader) -> None:
        self._tap.fetching = False

    def called(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
        self._tap.began = True
        self._tap.fetching = False
