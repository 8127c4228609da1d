"""A recording into which a kept state and kept batches are put."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trueline.adapters.nouns import Handed, State, Thing
from trueline.adapters.protocol import Adapter
from trueline.adapters.saving import Unfit, rebuilt
from trueline.adapters.tree import replaced
from trueline.formats.run_folder.states import Kept
from trueline.model.message import Message, message
from trueline.record.feed import Feed
from trueline.record.keeping.counters import move_enumerations
from trueline.record.keeping.counters import restore as restore_counters
from trueline.record.keeping.generators import Generators
from trueline.record.keeping.states import UNKNOWN
from trueline.record.launch import ScriptEnded
from trueline.record.recorder import Recorder
from trueline.record.replay.prompt import stop_soon
from trueline.record.replay.reenactment import Item, Parted, Reenactment, differences, misfit, state_of
from trueline.record.watching.state import Watch
from trueline.record.watching.watcher import WatchFeed


class Injecting(Feed):
    """At the first fetch of training the state is put in place, then the loop gets the kept batches."""

    replay: Reenactment
    stop_at: int | None = None
    in_float32 = False
    _generators: Generators
    _things: Sequence[Thing]
    _stopped_at: int | None = None

    def replay_with(self, replay: Reenactment) -> None:
        """What to put in place."""
        self.replay = replay
        self._generators = Generators(self._adapter.replaying, self._values)
        self._adapter.replaying.prepare()

    def loader_began(self, loader: Any, facts: Mapping[str, Any]) -> None:
        super().loader_began(loader, facts)
        self.replay.iteration_began(self._number(loader))

    def _number(self, loader: Any) -> int:
        known = self._recorder.loader_known(loader)
        return UNKNOWN if known is None else known

    def instead(self, loader: Any) -> Handed | None:
        """A kept batch for the loaders of training; evaluation fetches its own."""
        handed = super().instead(loader)
        number = self._number(loader)
        if handed is not None or number not in self.replay.loaders or self.replay.is_set_up(number):
            return handed
        if not self.replay.began:
            self._begin(loader)
        item = self.replay.next_of(number)
        if item is None:
            self._compare_after_last()
            raise ScriptEnded
        if item.entry is None:
            self.replay.ended = self._is_to_be_the_same
            return Handed(None, ended=True)
        if item.step != self.replay.at:
            self._go_on_to(item.step)
        handed = self._hand(loader, item)
        if item.step == self.stop_at and item.step != self._stopped_at:
            self._stopped_at = item.step
            stop_soon(self._adapter.build.package(), item.step)
        self.replay.at = item.step
        return handed

    def _begin(self, loader: Any) -> None:
        replay, replaying = self.replay, self._adapter.replaying
        kept = replay.kept(replay.state)
        things = replaying.things()
        unlike = misfit(kept, things)
        if unlike is not None:
            self._refuse(message("replay.other_things", before=unlike[0], now=unlike[1]))
        self._generators.find()
        try:
            replaying.restore(state_of(kept), things)
        except (KeyError, ValueError, RuntimeError) as error:
            self._refuse(message("replay.does_not_fit", reason=str(error)[:300]))
        self._generators.restore(state_of(kept))
        self._count_as(kept)
        iterators = self._adapter.replaying.iterators()
        move_enumerations(loader, iterators, int(kept.tree.get("place", 0)) - replay.passed)
        self._recorder.begin_at(replay.steps[0])
        self._things = things
        if self.in_float32:
            replaying.use_float32(things)
        replay.began, replay.at = True, replay.steps[0]

    def _go_on_to(self, step: int) -> None:
        """The next step begins: with what the one before has made, or after the end of an epoch with what was kept."""
        replay = self.replay
        if replay.ended:
            replay.ended = False
            kept = replay.kept(step)
            self._adapter.replaying.restore(state_of(kept), self._things)
            self._generators.restore(state_of(kept))
            self._count_as(kept)
        else:
            self._compare(step)

    def _count_as(self, kept: Kept) -> None:
        restore_counters(rebuilt(kept.tree.get("counters", {}), {}, self._values.from_numpy))

    def _refuse(self, why: Message) -> None:
        self.replay.refused = why
        raise ScriptEnded

    def _hand(self, loader: Any, item: Item) -> Handed:
        assert item.entry is not None
        arrays = self.replay.states.batch(item.step, item.entry["serial"])
        try:
            batch = rebuilt(item.entry["tree"], arrays, self._values.from_numpy)
        except Unfit as error:
            self._refuse(message("replay.no_class", name=str(error)))
        if self.in_float32:
            batch = self._widened(batch)
        self.fetched(loader, batch, item.entry.get("indexes"))
        self._generators.restore(State(arrays, item.entry["random"]))
        return Handed(batch)

    def _widened(self, batch: Any) -> Any:
        """The batch with numbers of half precision in float32."""
        halves = ("float16", "bfloat16")

        def wide(_: str, tensor: Any) -> Any:
            if self._values.dtype(tensor) not in halves:
                return tensor
            return self._values.from_numpy(self._values.to_numpy(tensor).astype(np.float32))

        return replaced(batch, self._values.is_tensor, wide)

    def _compare_after_last(self) -> None:
        """Where an epoch ended after the step, the next state was kept later than this."""
        following = self.replay.steps[-1] + 1
        if following in self.replay.states.steps and not self.replay.kept(following).tree.get("ended_before"):
            self._compare(following)

    @property
    def _is_to_be_the_same(self) -> bool:
        return self.replay.goes_on_as_it_was and not self.in_float32

    def _compare(self, step: int) -> None:
        """Is everything as it was before this step of the run?"""
        replay = self.replay
        if not self._is_to_be_the_same or step not in replay.states.steps or replay.parted is not None:
            return
        found = self._adapter.replaying.capture(self._things, gradients=True)
        names = differences(replay.kept(step), found)
        replay.compared.append(step)
        if names:
            replay.parted = Parted(step, names)


class ReplayFeed(Injecting):
    """A replay that is recorded."""

    def __init__(self, recorder: Recorder, adapter: Adapter, replay: Reenactment) -> None:
        super().__init__(recorder, adapter)
        self.replay_with(replay)


class WatchedReplayFeed(Injecting, WatchFeed):
    """A replay that is watched operator by operator."""

    def __init__(self, recorder: Recorder, adapter: Adapter, replay: Reenactment, watch: Watch) -> None:
        WatchFeed.__init__(self, recorder, adapter, watch)
        self.replay_with(replay)
