"""A recording that keeps states too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trueline.adapters.protocol import Adapter
from trueline.model.key import Phase
from trueline.model.run import EventName
from trueline.record.feed import Feed
from trueline.record.guard import guarded
from trueline.record.keeping.loaders import LoaderNumbers
from trueline.record.keeping.states import StateKeeper
from trueline.record.recorder import Recorder


class KeepingFeed(Feed):
    """Tells a keeper of states when steps begin, and what they are given."""

    def __init__(self, recorder: Recorder, adapter: Adapter, states: StateKeeper) -> None:
        super().__init__(recorder, adapter)
        self._states = states
        self._loaders = LoaderNumbers()
        self._fetched_at: dict[float, int] = {}
        self._trained_on: set[int] = set()
        adapter.replaying.prepare()
        recorder.subscribe(self._finished)

    def _finished(self, phase: Phase, _step: int, events: Sequence[Mapping[str, Any]]) -> None:
        for one in events:
            number = self._fetched_at.pop(one["t"], None) if one["event"] == EventName.BATCH else None
            if number is not None and phase is Phase.TRAIN:
                self._trained_on.add(number)

    def _number(self, loader: Any) -> int:
        return self._loaders.of(loader, self._recorder.loader_known(loader))

    def loader_began(self, loader: Any, facts: Mapping[str, Any]) -> None:
        super().loader_began(loader, facts)
        number = self._number(loader)
        if self._serves_training(number):
            self._states.iteration_began(number)

    def _serves_training(self, number: int) -> bool:
        """Whether batches of the loader were trained on, or nothing was trained yet."""
        return not self._trained_on or number in self._trained_on

    def fetch_began(self, loader: Any) -> None:
        super().fetch_began(loader)
        if self._serves_training(self._number(loader)):
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
        number, event = self._number(loader), self._recorder.waiting.newest
        if event is not None:
            self._fetched_at[event["t"]] = number
        if self._serves_training(number):
            self._states.fetched(number, batch, indexes, event)

    def loader_ended(self, loader: Any) -> None:
        super().loader_ended(loader)
        self._keep_end(loader)

    @guarded
    def _keep_end(self, loader: Any) -> None:
        number = self._number(loader)
        if self._serves_training(number):
            self._states.ended(number)

    def zero_grad(self, owner: Any) -> None:
        super().zero_grad(owner)
        self._states.zeroed()

    def backward_began(self) -> None:
        if not self._recorder.in_backward:
            self._states.backward_began()
        super().backward_began()
