"""States kept beside a recording: what the keeper of states is told of a training."""

from __future__ import annotations

from collections.abc import Sequence

from trueline.adapters.nouns import Loader, LoaderFacts, Network, Optimizer, Value
from trueline.model.json_value import Json, JsonObject
from trueline.model.key import Phase
from trueline.model.run import EventName
from trueline.record.keeping.loaders import LoaderNumbers
from trueline.record.keeping.states import StateKeeper
from trueline.record.observers import SilentObserver
from trueline.record.recorded import Recorded


class StateObserver(SilentObserver):
    """Tells a keeper of states when steps begin, and what they are given; heard after the recording."""

    def __init__(self, recorded: Recorded, states: StateKeeper) -> None:
        self._recorder = recorded.recorder
        self._states = states
        self._loaders = LoaderNumbers()
        self._fetched_at: dict[Json, int] = {}
        self._trained_on: set[int] = set()
        recorded.recorder.subscribe(self._finished)

    def _finished(self, phase: Phase, _step: int, events: Sequence[JsonObject]) -> None:
        for event in events:
            number = self._fetched_at.pop(event["t"], None) if event["event"] == EventName.BATCH else None
            if number is not None and phase is Phase.TRAIN:
                self._trained_on.add(number)

    def _number(self, loader: Loader) -> int:
        return self._loaders.of(loader, self._recorder.training.loader_known(loader))

    def loader_began(self, loader: Loader, facts: LoaderFacts) -> None:
        number = self._number(loader)
        if self._serves_training(number):
            self._states.iteration_began(number)

    def _serves_training(self, number: int) -> bool:
        """Whether batches of the loader were trained on, or nothing was trained yet."""
        return not self._trained_on or number in self._trained_on

    def fetch_began(self, loader: Loader) -> None:
        recorder = self._recorder
        serves_training = self._serves_training(self._number(loader))
        if recorder.boundaries.open.active or not serves_training:
            return
        built = (len(recorder.training.networks.roots), sum(1 for _ in recorder.training.optimizers_alive()))
        self._states.before(
            recorder.boundaries.steps[Phase.TRAIN], recorder.rank_folder, built, recorder.boundaries.waiting.waits
        )

    def fetched(self, loader: Loader, batch: Value, indexes: Sequence[int] | None) -> None:
        number, event = self._number(loader), self._recorder.boundaries.waiting.newest
        if event is not None:
            self._fetched_at[event.at] = number
        if self._serves_training(number):
            self._states.fetched(number, batch, indexes, event)

    def loader_ended(self, loader: Loader) -> None:
        number = self._number(loader)
        if self._serves_training(number):
            self._states.ended(number)

    def zero_grad(self, owner: Network | Optimizer) -> None:
        self._states.zeroed()

    def backward_began(self) -> None:
        # The recording has just counted it.
        if self._recorder.boundaries.in_backward == 1:
            self._states.backward_began()
