"""A kept state and kept batches put into a recorded training."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

import numpy as np

from trueline.adapters.nouns import Handed, Loader, LoaderFacts, State, Stateful, Value
from trueline.adapters.saving import Unfit, rebuilt
from trueline.adapters.tree import replaced
from trueline.formats.run_folder.states import Kept
from trueline.model.trouble import BadUsage, Trouble
from trueline.record.keeping.counters import move_enumerations
from trueline.record.keeping.counters import restore as restore_counters
from trueline.record.keeping.generators import Generators
from trueline.record.keeping.loaders import LoaderNumbers
from trueline.record.launch import ScriptEnded
from trueline.record.observers import Observers, SilentObserver
from trueline.record.recorded import Recorded
from trueline.replay.prompt import stop_soon
from trueline.replay.reenactment import Item, Parted, Reenactment, differences, misfit, state_of

_MAX_REASON_CHARACTERS: Final = 300


class Injector(SilentObserver):
    """At the first fetch of training the state is put in place, then the loop gets the kept batches.

    Heard last: a watch that does a step again hands out its batches itself. ``stop_at`` is the step at which a debugger
    takes over.
    """

    def __init__(
        self, recorded: Recorded, observers: Observers, replay: Reenactment, stop_at: int | None, in_float32: bool
    ) -> None:
        self._recorder, self._adapter, self._values = recorded.recorder, recorded.adapter, recorded.values
        self._observers, self._replay = observers, replay
        self._stop_at, self._in_float32 = stop_at, in_float32
        self._things: Sequence[Stateful] = ()
        self._stopped_at: int | None = None
        self._waiting: Set[int] = frozenset()
        self._loaders = LoaderNumbers()
        self._generators = Generators(self._adapter.replaying, self._values)
        self._adapter.replaying.prepare()

    def _number(self, loader: Loader) -> int:
        return self._loaders.of(loader, self._recorder.training.loader_known(loader))

    def loader_began(self, loader: Loader, facts: LoaderFacts) -> None:
        self._replay.iteration_began(self._number(loader))

    def instead(self, loader: Loader) -> Handed | None:
        """A kept batch for the loaders of training; evaluation fetches its own."""
        number = self._number(loader)
        if number not in self._replay.loaders or self._replay.is_set_up(number):
            return None
        try:
            return self._instead(loader, number)
        except Trouble as trouble:
            self._replay.trouble = trouble
        except Unfit as error:
            self._replay.trouble = BadUsage("replay.no_class", name=str(error))
        except Exception as error:  # noqa: BLE001 - a state that is not what a run has kept can fail in any way
            reason = " ".join(str(error).split())[:_MAX_REASON_CHARACTERS]
            self._replay.trouble = BadUsage("replay.does_not_fit", reason=f"{type(error).__name__}: {reason}")
        raise ScriptEnded

    def _instead(self, loader: Loader, number: int) -> Handed | None:
        if not self._replay.began:
            self._begin()
        if self._replay.is_between(number):
            return None
        item = self._replay.next_of(number)
        if item is None:
            self._compare_after_last()
            raise ScriptEnded
        if item.within:
            self._come_to(item)
        if item.entry is None:
            self._replay.ended = self._is_to_be_the_same
            return Handed(None, ended=True)
        handed = self._hand(loader, item)
        if item.step == self._stop_at and item.step != self._stopped_at:
            self._stopped_at = item.step
            stop_soon(self._adapter.build.package(), item.step)
        return handed

    def _come_to(self, item: Item) -> None:
        if item.step != self._replay.at:
            self._go_on_to(item.step)
        elif self._waits_no_more(item):
            self._put(self._replay.kept(self._replay.state))
        self._replay.at = item.step

    def _begin(self) -> None:
        replay, replaying = self._replay, self._adapter.replaying
        kept = replay.kept(replay.state)
        things = replaying.holders()
        unlike = misfit(kept, things)
        if unlike is not None:
            raise BadUsage("replay.other_things", before=unlike[0], now=unlike[1])
        self._generators.find()
        self._things = things
        self._put(kept)
        self._waiting = set(kept.tree["waiting"])
        move_enumerations(replaying.iterators(), kept.tree["place"] - replay.passed)
        self._recorder.boundaries.begin_at(replay.steps[0])
        replay.began, replay.at = True, replay.steps[0]

    def _put(self, kept: Kept) -> None:
        self._adapter.replaying.restore(state_of(kept), self._things)
        self._generators.restore(state_of(kept))
        restore_counters(rebuilt(kept.tree["counters"], {}, self._values.from_numpy))
        if self._in_float32:
            self._adapter.replaying.use_float32(self._things)

    def _waits_no_more(self, item: Item) -> bool:
        """Whether this is where the state was taken, behind what had been fetched ahead by then."""
        here = bool(self._waiting) and (item.entry is None or item.entry["serial"] not in self._waiting)
        if here:
            self._waiting = set()
        return here

    def _go_on_to(self, step: int) -> None:
        """The next step begins: with what the one before has made, or after the end of an epoch with what was kept."""
        replay = self._replay
        if replay.ended:
            replay.ended = False
            self._put(replay.kept(step))
        else:
            self._compare(step)
            # A loop over a range goes on from its beginning.
            counters = rebuilt(replay.kept(step).tree["counters"], {}, self._values.from_numpy)
            restore_counters(counters, (int,))

    def _hand(self, loader: Loader, item: Item) -> Handed:
        assert item.entry is not None
        arrays = self._replay.states.batch(item.step, item.entry["serial"])
        batch = rebuilt(item.entry["tree"], arrays, self._values.from_numpy)
        if self._in_float32:
            batch = self._widened(batch)
        self._observers.fetched(loader, batch, item.entry["indexes"])
        self._generators.restore(State(arrays, item.entry["random"]))
        return Handed(batch)

    def _widened(self, batch: Value) -> Value:
        """The batch with numbers of half precision in float32."""
        halves = ("float16", "bfloat16")

        def wide(_: str, tensor: Value) -> Value:
            if self._values.dtype(tensor) not in halves:
                return tensor
            return self._values.from_numpy(self._values.to_numpy(tensor).astype(np.float32))

        return replaced(batch, self._values.is_tensor, wide)

    def _compare_after_last(self) -> None:
        """Where an epoch ended after the step, the next state was kept later than this."""
        following = self._replay.steps[-1] + 1
        if following in self._replay.states.steps and not self._replay.kept(following).tree["ended_before"]:
            self._compare(following)

    @property
    def _is_to_be_the_same(self) -> bool:
        return self._replay.goes_on_as_it_was and not self._in_float32

    def _compare(self, step: int) -> None:
        """Is everything as it was before this step of the run?"""
        replay = self._replay
        if not self._is_to_be_the_same or step not in replay.states.steps or replay.parted is not None:
            return
        found = self._adapter.replaying.capture(self._things, gradients=True)
        names = differences(replay.kept(step), found)
        replay.compared.append(step)
        if names:
            replay.parted = Parted(step, names)
