"""The state before each wanted step and the batches that came, as they go into the run folder."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.adapters.nouns import State, Stateful, Value
from trueline.adapters.protocol import Adapter
from trueline.adapters.saving import Saving
from trueline.formats.run_folder.states import Kept, StatePage, StatesWriter
from trueline.kernel.array import Array
from trueline.model.json_value import JsonObject
from trueline.record.keeping.counters import Counters
from trueline.record.keeping.generators import Generators
from trueline.record.keeping.keep import Keep
from trueline.record.keeping.loaders import UNKNOWN
from trueline.record.open_step import OpenEvent

# So many steps must have zeroed their gradients first before those of the step before are no longer kept.
_STEPS_TO_BE_SURE: Final = 16
# In so many iterations over data what has a state is looked for anew.
_LOOKED_AT: Final = 2


@dataclass(slots=True)
class _Fetch:
    """What a loader has handed out."""

    serial: int
    loader: int
    entry: JsonObject
    arrays: Mapping[str, Array]
    lost: Sequence[str]
    event: OpenEvent | None


class StateKeeper:
    """Keeps states of one framework's training."""

    def __init__(self, keep: Keep, adapter: Adapter, command: JsonObject | None) -> None:
        self._keep, self._adapter, self._command = keep, adapter, command
        self._replaying = adapter.replaying
        self._generators = Generators(adapter.replaying, adapter.values)
        self._counters = Counters()
        self._writer: StatesWriter | None = None
        self._kept: list[int] = []
        self._step: int | None = None
        self._things: list[Stateful] = []
        self._built: object = None
        self._scanned = False
        self._current = False
        self._ended: list[int] = []
        self._ends: list[int] = []
        self._iterated = UNKNOWN
        self._in_iteration = 0
        self._fetches: list[_Fetch] = []
        self._serial = 0
        self._iterations: Counter[int] = Counter()
        self._begins_at: dict[str, tuple[int, int]] = {}
        self._zeroed = False
        self._clean_steps = 0
        self._accumulates = False

    # ---- what the training does

    def zeroed(self) -> None:
        """Gradients were cleared."""
        self._zeroed = True

    def backward_began(self) -> None:
        """Gradients arrive: on top of older ones?"""
        self._accumulates = self._accumulates or not self._zeroed
        self._clean_steps += self._zeroed
        self._zeroed = False

    @property
    def _gradients_count(self) -> bool:
        return self._accumulates or self._clean_steps < _STEPS_TO_BE_SURE

    def iteration_began(self, number: int) -> None:
        """A new iteration over data: things may have been built or changed since the last step."""
        self._current = False
        self._in_iteration = 0
        self._iterated = number
        self._iterations[number] += 1
        # Copies are made before the second one, if at all; looking for them in each would take its time.
        self._scanned = self._scanned and self._iterations[number] > _LOOKED_AT
        # What is left of an earlier one is not going to be used.
        self._fetches = [fetch for fetch in self._fetches if fetch.loader != number]

    # ---- the state

    def before(self, step: int, folder: Callable[[], Path], built: object, waits: Callable[[OpenEvent], bool]) -> None:
        """A batch is about to be asked for: keep the state, if the step is wanted and this was not done yet.

        ``built`` changes with what is known to be there, ``waits`` tells whether a batch was not used yet.
        """
        known = (built, self._replaying.built())
        if self._built != known:
            self._built, self._scanned, self._current = known, False, False
        if self._current and self._step == step:
            return
        self._fetches = _still_to_come(self._fetches, waits)
        self._ends = []
        if step == 0:
            self._begins_at = {str(self._iterated): (self._iterations[self._iterated], self._place)}
        self._step, self._current = step, True
        if step == 0:
            self._counters = Counters()
            self._counters.changed()
        if self._keep.wants(step):
            self._take(step, self._writer_in(folder))

    def _take(self, step: int, writer: StatesWriter) -> None:
        if not self._scanned:
            self._things = self._replaying.holders()
            self._generators.find()
            self._scanned = True
        self._zeroed = False
        writer.write_state(step, self._captured(step))
        for fetch in self._fetches:
            self._write(writer, step, fetch)
        if step not in self._kept:
            self._kept.append(step)

    @property
    def _place(self) -> int:
        """How many batches of this iteration have been used."""
        waiting = [fetch for fetch in self._fetches if fetch.loader == self._iterated]
        return self._in_iteration - len(waiting)

    def _writer_in(self, folder: Callable[[], Path]) -> StatesWriter:
        if self._writer is None:
            self._writer = StatesWriter(folder())
            if self._command is not None:
                self._writer.write_command(self._command)
        return self._writer

    def _captured(self, step: int) -> Kept:
        state = self._replaying.capture(self._things, gradients=self._gradients_count)
        drawn = self._generators.state()
        tree: StatePage = {
            "format": 1,
            "step": step,
            "framework": self._adapter.name,
            "things": [{"kind": thing.kind, "type": thing.type} for thing in self._things],
            "plain": {**state.plain, **drawn.plain},
            "lost": [*state.lost, *drawn.lost],
            "place": self._place,
            "waiting": [fetch.serial for fetch in self._fetches],
            "counters": Saving(self._adapter.values).tree(self._counters.changed(), "counters"),
            "ended_before": list(self._ended),
            "begins_at": self._begins_at,
        }
        return Kept(tree, {**state.arrays, **drawn.arrays})

    # ---- the batches

    def fetched(self, number: int, batch: Value, indexes: Sequence[int] | None, event: OpenEvent | None) -> None:
        """A batch was handed out."""
        self._ended = []
        self._in_iteration += number == self._iterated
        if self._step is None:
            return
        saving = Saving(self._adapter.values)
        tree = saving.tree(batch, "batch")
        drawn: State = self._generators.state()
        serial = self._serial
        entry = {
            "serial": serial,
            "loader": number,
            "tree": tree,
            "indexes": list(indexes) if indexes is not None else None,
            "iteration": self._iterations[number],
            "random": dict(drawn.plain),
        }
        self._serial += 1
        arrays, lost = {**saving.arrays, **drawn.arrays}, [*saving.lost, *drawn.lost]
        self._add(_Fetch(serial, number, entry, arrays, lost, event))

    def ended(self, number: int) -> None:
        """A loader had no more; whoever replays the step before has to be told so, or this one, if it is one."""
        self._ended.append(number)
        self._ends.append(number)
        if self._step in self._kept and self._writer is not None:
            self._write_fetches(self._writer, self._step)

    def _add(self, fetch: _Fetch) -> None:
        self._fetches.append(fetch)
        if self._step in self._kept and self._writer is not None:
            self._write(self._writer, self._step, fetch)
            self._forget_expired(self._writer, self._step)

    def _write(self, writer: StatesWriter, step: int, fetch: _Fetch) -> None:
        lost = [*fetch.lost, *writer.write_batch(step, fetch.serial, fetch.arrays)]
        fetch.entry = {**fetch.entry, "lost": lost}
        self._write_fetches(writer, step)

    def _write_fetches(self, writer: StatesWriter, step: int) -> None:
        writer.write_fetches(step, [fetch.entry for fetch in self._fetches], self._ends)

    def _forget_expired(self, writer: StatesWriter, step: int) -> None:
        """Only now that a step has begun for sure: at the end of an epoch a state may be one of no step."""
        for expired in self._keep.expired(self._kept, step):
            writer.remove(expired)
            self._kept.remove(expired)


def _still_to_come(fetches: Sequence[_Fetch], waits: Callable[[OpenEvent], bool]) -> list[_Fetch]:
    """Those that wait; one that is older than a batch in use was passed over by the script."""
    used = {fetch.loader: fetch.serial for fetch in fetches if fetch.event is None or not waits(fetch.event)}
    return [fetch for fetch in fetches if fetch.serial > used.get(fetch.loader, -1)]
