"""A recording that keeps states too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trueline.adapters.protocol import Adapter
from trueline.model.key import Phase
from trueline.model.run import EventName
from trueline.record.feed import Feed
from trueline.record.guard import guarded
from trueline.record.keeping.states import UNKNOWN, StateKeeper
from trueline.record.recorder import Recorder


class KeepingFeed(Feed):
    """Tells a keeper of states when steps begin, and what they are given."""

    def __init__(self, recorder: Recorder, adapter: Adapter, states: StateKeeper) -> None:
        super().__init__(recorder, adapter)
        self._states = states
        self._trained_on: set[int | None] = set()
        adapter.replaying.prepare()
        recorder.subscribe(self._finished)

    def _finished(self, phase: Phase, _step: int, events: Sequence[Mapping[str, Any]]) -> None:
        if phase is Phase.TRAIN:
            self._trained_on |= {one["loader"] for one in events if one["event"] == EventName.BATCH}

    def loader_began(self, loader: Any, facts: Mapping[str, Any]) -> None:
        super().loader_began(loader, facts)
        if self._serves_training(loader):
            self._states.iteration_began(self._number(loader))

    def _number(self, loader: Any) -> int:
        """The loader's number; one whose iteration was not seen to begin has none of its own."""
        known = self._recorder.loader_known(loader)
        return UNKNOWN if known is None else known

    def _serves_training(self, loader: Any) -> bool:
        """Whether batches of the loader were trained on, or nothing was trained yet."""
        return not self._trained_on or self._recorder.loader_known(loader) in self._trained_on

    def fetch_began(self, loader: Any) -> None:
        super().fetch_began(loader)
        if self._serves_training(loader):
            self._keep_state()

    @guarded
    def _keep_state(self) -> None:
        recorder = self._recorder
        if recorder.open.active:
            return
        built = (len(recorder.networks.roots), sum(1 for _ in recorder.optimizers_alive()))
        self._states.before(recorder.steps[Phase.TRAIN], recorder.rank_folder, built, recorder.waiting.waits)

    def fetched(self, loader: Any, batch: Any, indexes: Sequence[int] | None) -> None:
        super().fetched(loader, batch, indexes)
        self._keep_batch(loader, batch, indexes)

    @guarded
    def _keep_batch(self, loader: Any, batch: Any, indexes: Sequence[int] | None) -> None:
        if self._serves_training(loader):
            self._states.fetched(self._number(loader), batch, indexes, self._recorder.waiting.newest)

    def loader_ended(self, loader: Any) -> None:
        super().loader_ended(loader)
        self._keep_end(loader)

    @guarded
    def _keep_end(self, loader: Any) -> None:
        if self._serves_training(loader):
            self._states.ended(self._number(loader))

    def zero_grad(self, owner: Any) -> None:
        super().zero_grad(owner)
        self._states.zeroed()

    def backward_began(self) -> None:
        if not self._recorder.in_backward:
            self._states.backward_began()
        super().backward_began()
