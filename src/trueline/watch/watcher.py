"""Looks at every step's loss, gradients and weights; a step that went wrong is done again operator by operator."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final

from trueline.adapters.identity import Reference, reference
from trueline.adapters.lines import user_line
from trueline.adapters.nouns import Handed, Loader, Network, Optimizer, Value
from trueline.adapters.tree import leaves
from trueline.model.json_value import JsonObject
from trueline.model.key import Phase
from trueline.model.location import Location
from trueline.record.observers import Observers, SilentObserver
from trueline.record.ranks import rank_of
from trueline.record.recorded import Recorded
from trueline.watch.afresh import FROM_THE_START
from trueline.watch.found import hit_of
from trueline.watch.hit import Hit
from trueline.watch.looking import Looking
from trueline.watch.points_observer import PointsObserver
from trueline.watch.readings import Readings
from trueline.watch.seen import Part, Seen, Updating
from trueline.watch.snapshot import Fetched, Snapshot
from trueline.watch.state import Signs, Watch, WatchEnded
from trueline.watch.tracker import Tracker, odd_rows

# A smaller scale mends gradients that are too large, no loss that is not finite.
_LOST_STEPS: Final = 3
# A loop that fetches more than this between two updates does something else with its data than training.
_MAX_BATCHES: Final = 64


class Watcher(SilentObserver):
    """Looks at the numbers of one framework's training; heard after the recording, but for what it notes ahead of it.

    ``recorded`` is the recording's own observer of the framework.
    """

    def __init__(self, recorded: Recorded, observers: Observers, watch: Watch) -> None:
        self.recorded = recorded
        self._recorder, self._adapter, self._values = recorded.recorder, recorded.adapter, recorded.values
        self.observers, self._watch = observers, watch
        self._readings = Readings(recorded)
        self._norm: Value = None
        self._parameters = recorded.recorder.training.parameters
        self._snapshot: Snapshot | None = None
        self._again = False
        self._tracker: Tracker | None = None
        self._tracking: AbstractContextManager[None] | None = None
        self._updating = Updating.NOT
        self._loss: Value = None
        # Whether this pass has gone back already, and whether the script has seen before that its loss is not finite.
        self._went_back = False
        self._seen_bad = False
        # Those before it in the same step, which count where no update shows what has become of them.
        self._losses: list[Value] = []
        self._gradients: Sequence[tuple[Value, Value]] = ()
        self._starts: list[Seen] = []
        self._outputs: list[str] = []
        self._batch: dict[int, tuple[str, Value]] = {}
        self._checked = False
        self._skipped = False
        # Whether anything but its loss has shown the step that is going on.
        self._announced = False
        # The steps in a row that were skipped because of the loss itself.
        self._lost_steps: list[int] = []
        self._step_line: Location | None = None
        self._optimizer = ""
        # Batches since the last update and of the update before, those still to be handed out again, and how many the
        # last update has.
        self._unused: list[Fetched] = []
        self._tail: list[Fetched] = []
        self._due: list[Fetched] = []
        self._last_step = 0
        self._first_again = False
        self._between_updates = True
        # The step in which the gradients of the next update begin: several backward passes may make one update.
        self._window = 0
        # Schedules and loss scalers, which have numbers of their own.
        self._counting: list[Reference] = []
        self._recorder.subscribe(self._finished)
        if watch.at == FROM_THE_START:
            self._begin_tracking()

    def join(self) -> None:
        """Take place in the list of observers, with the watchpoints."""
        self.observers.put_first(_Ahead(self))
        if self._watch.points is not None:
            self.observers.put_last(PointsObserver(self.recorded, self._readings, self._watch, self._watch.points))
        self.observers.put_last(self)

    @property
    def _step(self) -> int:
        return self._recorder.boundaries.steps[Phase.TRAIN]

    @property
    def wants_calls(self) -> bool:
        """Every module's calls where each operator's module is wanted, or what modules give."""
        return self._tracker is not None or self._watch.limit is not None

    def turn_off(self, error: Exception) -> None:
        """Stop watching; a step that is being done again cannot be trained on."""
        if self._tracker is not None:
            self._tracker.ended = True
        if (self._watch.doing_again or self._watch.at is not None) and not self._watch.script_over:
            raise WatchEnded

    # ---- data

    def fetch_began(self, loader: Loader) -> None:
        # What a loader computes is no part of a step.
        if self._tracker is not None:
            self._tracker.paused = True

    def loader_ended(self, loader: Loader) -> None:
        self._resume()

    def fetched(self, loader: Loader, batch: Value, indexes: Sequence[int] | None) -> None:
        self._taken(loader, batch, indexes)
        self._resume()

    def _resume(self) -> None:
        if self._tracker is not None:
            self._tracker.paused = False

    def _taken(self, loader: Loader, batch: Value, indexes: Sequence[int] | None) -> None:
        self._announced = True
        self._give_up()
        self._name_batch(batch)
        self._begin_where_wanted()
        watch = self._watch
        if watch.replay and watch.at is None and not self._again and not watch.over:
            snapshot = self._snapshot = self._snapshot or Snapshot(self._adapter)
            if self._between_updates and snapshot.is_due:
                networks, optimizers = list(self._readings.networks()), list(self._recorder.training.optimizers_alive())
                counting = [found for known in self._counting if (found := known()) is not None]
                snapshot.take(networks, optimizers, counting)
                watch.kept_bytes = max(watch.kept_bytes, snapshot.bytes)
                self._unused = []
            self._between_updates = False
            if snapshot.whole:
                self._unused.append(Fetched.of(loader, batch, indexes, self._values))
            if len(self._unused) > _MAX_BATCHES:
                snapshot.forget()
                self._unused = []

    def _name_batch(self, batch: Value) -> None:
        found = self._tensors(batch)
        self._batch |= found
        if self._tracker is not None:
            self._tracker.handed_out(found)

    def _tensors(self, batch: Value) -> dict[int, tuple[str, Value]]:
        found = leaves(batch, self._values.is_tensor)
        return {self._values.identity(tensor): (index, tensor) for index, tensor in found}

    def _rows(self, name: str) -> Sequence[int]:
        """The samples in a field of the batch that are not like the others."""
        fields = (self._readings.array(tensor, name) for index, tensor in self._batch.values() if index == name)
        return next((rows for array in fields if array is not None and (rows := odd_rows(array))), ())

    def _bad_field(self) -> str | None:
        """A field of the batch with NaN in it; infinite numbers may be meant, as in masks."""
        summaries = ((name, self._readings.summary(tensor)) for name, tensor in self._batch.values())
        return next((name for name, summary in summaries if summary is not None and summary.nan), None)

    def instead(self, loader: Loader) -> Handed | None:
        """The batches since the state was kept, once more; the last are those of the step that went wrong."""
        if not self._again or self._snapshot is None or not self._due or self._due[0].loader is not loader:
            return None
        handed = self._due.pop(0)
        self.observers.guarded(self._hand_again)(self._snapshot, handed)
        self._resume()
        return Handed(handed.batch) if self._recorder.on else None

    def _hand_again(self, snapshot: Snapshot, handed: Fetched) -> None:
        if self._first_again:
            self._first_again = False
            self._watch.doing_again = True
            snapshot.restore()
        self.recorded.data.fetched(handed.loader, handed.batch, handed.indexes)
        self._name_batch(handed.batch)
        if self._tracker is None and len(self._due) < self._last_step:
            self._begin_tracking()

    # ---- op level

    def _begin_where_wanted(self) -> None:
        """In a run made for one step: from the end of the step before, or from the first sign of the first one."""
        if self._watch.at is not None and self._tracker is None and self._step >= self._watch.at:
            self._begin_tracking()

    def _begin_tracking(self) -> None:
        limit = self._watch.limit if self._watch.limit is not None else math.inf
        self._tracker = Tracker(
            self._adapter, self._named, self._module, lambda: self._updating, limit, failed=self.observers.turn_off
        )
        self._starts = []
        self._tracking = self._adapter.ops.watch(self._tracker)
        self._tracking.__enter__()

    def _end_tracking(self) -> None:
        if self._tracking is not None:
            self._tracking.__exit__(None, None, None)
        self._tracking = None

    def _module(self) -> str:
        return next((call.place.path for call in reversed(self.recorded.calls.stack) if call.place is not None), "")

    def _named(self, tensor: Value) -> tuple[str, Part] | None:
        name = self._readings.name(tensor)
        if name is not None:
            return name, Part.WEIGHTS
        known = self._batch.get(self._values.identity(tensor))
        return (known[0], Part.DATA) if known is not None else None

    # ---- what happens in a step

    def call_comes(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
        """A module is about to be called, which may begin a new step."""
        if self.recorded.calls.stack:
            return
        self._updating = Updating.NOT
        self._announced = True
        self._give_up()
        if not self._batch:
            self._batch = self._tensors((list(args), dict(kwargs)))
        self._begin_where_wanted()

    def returned(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value], output: Value) -> None:
        place, watch = self.recorded.calls.returning, self._watch
        if watch.limit is None or place is None:
            return
        for _, tensor in leaves(output, self._values.is_tensor):
            if "float" not in self._values.dtype(tensor):
                continue
            summary = self._readings.summary(tensor)
            if summary is None:
                self._readings.unwatched(place.path or type(module).__name__)
                continue
            if max(-summary.minimum, summary.maximum) > watch.limit:
                self._outputs.append(place.path)
                made = self._tracker.maker(tensor) if self._tracker is not None else None
                self._starts += [made] if made is not None else []

    def loss(self, value: Value, source: str) -> None:
        if source != "output":
            self._note_loss(value)

    @property
    def wants_reads(self) -> bool:
        """A loss that never goes back is seen where the script itself looks at it."""
        return True

    def read_non_finite(self, value: Value) -> None:
        """Of a loss that has gone back, that is known already."""
        if self.recorded.calls.stack or self._went_back or self._seen_bad:
            return
        self._seen_bad = True
        made = self._tracker.maker(value) if self._tracker is not None else None
        if made is not None:
            self._starts.append(made)

    def _give_up(self) -> None:
        """Another pass begins, or none: where the one before it never went back, the script has thrown it away."""
        if self._seen_bad and not self._watch.over:
            watch = self._watch
            watch.thrown_away += not self._again
            watch.never_back += not self._again
            watch.ended_by_loss = self._step
            if self._tracker is not None and watch.thrown_away_counts:
                self._wrong(Signs(loss=True), self._step)
        self._went_back = self._seen_bad = False

    def script_ended(self) -> None:
        """Look a last time, before anything is taken apart: at a pass that was given up, at weights and at buffers."""
        self.observers.guarded(self._look_last)()

    def _look_last(self) -> None:
        self._give_up()
        watch = self._watch
        if watch.over or watch.wrong_at is not None or not watch.steps:
            return
        held = [
            tensor.value
            for network in self._readings.networks()
            for tensor in self._values.tensors(network)
            if "float" in self._values.dtype(tensor.value)
        ]
        looking = Looking(self._values, self._parameters, self._readings.summary, self._named, None)
        watch.left = looking.signs(None, 0.0, (), held, ()).weights

    def _note_loss(self, value: Value) -> None:
        self._went_back, self._seen_bad = True, False
        if self._loss is not None and not self._checked:
            self._losses = (
                [self._worst(), self._loss] if len(self._losses) >= _MAX_BATCHES else [*self._losses, self._loss]
            )
        self._loss = self._values.keep(value)
        made = self._tracker.maker(value) if self._tracker is not None else None
        if made is not None:
            self._starts.append(made)

    def forward_began(self, parameters: Sequence[Value]) -> None:
        self._updating = Updating.NOT
        self._announced = True
        self._begin_where_wanted()

    def zero_grad(self, owner: Network | Optimizer) -> None:
        # Whatever was pulled back before is thrown away.
        self._window, self._starts = self._step, []

    def backward_comes(self) -> None:
        """Whatever is computed from now on is computed by a backward pass."""
        self._updating = Updating.PULLING

    def backward_began(self) -> None:
        if self._tracker is not None:
            self._tracker.backward_began()

    def backward_ended(self) -> None:
        # What is computed from now on is done to gradients, until the next forward pass.
        self._updating = Updating.BY_HAND

    def pulled(self, pairs: Sequence[tuple[Value, Value]]) -> None:
        # Gradients of values that nobody will see updated are looked at by themselves.
        handed = self.recorded.updates.by_hand.of_handed(pairs)
        # Of several passes in a step the first that is not finite counts.
        if handed and (self._norm is None or math.isfinite(self._values.read(self._norm))):
            self._gradients, self._norm = handed, self._values.norm([gradient for _, gradient in handed])
            self._note_makers(handed)

    def step_began(self, optimizer: Optimizer, gradients: Sequence[tuple[Value, Value]] | None) -> None:
        self._optimizer = type(optimizer).__name__
        if gradients is not None:
            self._norm = self.recorded.updates.norm
        self._gradients = gradients or ()
        self._note_makers(self._gradients)
        self._updating = Updating.BY_OPTIMIZER
        self._step_line = user_line(self._adapter.build.package())

    def _note_makers(self, gradients: Sequence[tuple[Value, Value]]) -> None:
        if self._tracker is not None:
            makers = [self._tracker.maker(gradient) for _, gradient in gradients]
            self._starts += [made for made in makers if made is not None]

    def update_ends(self) -> None:
        """Whatever is computed from now on belongs to this step no more, unless its data was fetched before."""
        self._updating = Updating.AFTER if self._recorder.boundaries.open.fetched else Updating.AHEAD

    def step_ended(self, optimizer: Optimizer, skipped: bool) -> None:
        self._checked = True
        self._skipped = self._skipped or skipped
        held = [parameter for group in self._values.groups(optimizer) for parameter in group.parameters]
        self._look([] if skipped else held, step=self._step, by_optimizer=True, skipped=skipped)

    def scheduled(self, scheduler: object) -> None:
        self._counts(scheduler)

    def scaled_by(self, scaler: object) -> None:
        self._counts(scaler)

    def _counts(self, helper: object) -> None:
        if not any(known() is helper for known in self._counting):
            self._counting.append(reference(helper))

    # ---- the end of a step

    def _finished(self, phase: Phase, number: int, _events: Sequence[JsonObject]) -> None:
        """A step is over; one without an optimizer that is known is looked at now."""
        self._batch = {}
        if phase is Phase.EVAL:
            self._evaluated()
            return
        by_hand = self.recorded.updates.by_hand.used or self.recorded.updates.by_hand.made()
        # After an optimizer's update there is a loss only where more was pulled back without it.
        if self._loss is not None and self._recorder.on:
            held = [
                tensor.value
                for network in self._readings.networks()
                for tensor in self._values.tensors(network)
                if tensor.trainable
            ]
            known = {id(parameter) for parameter in held}
            held += [parameter for parameter in self.recorded.updates.by_hand.parameters if id(parameter) not in known]
            self._loss = self._worst()
            self._look(held, step=number, by_hand=by_hand)
        self._announced = False
        self._give_up()
        if self._checked or by_hand:
            self._window, self._starts = number + 1, []
        if not self._again:
            self._watch.finished(number)
            self._watch.skipped += self._skipped
        self._checked = self._skipped = False
        at = self._watch.at
        if self._tracker is not None and number >= (at or 0):
            self._tracker.step_ended()
            if at is None and not self._due and not self._watch.over:
                # Done again, the step went well: something else than what was restored decides about it.
                self._end()

    def _evaluated(self) -> None:
        """What evaluation has fetched is not trained on, and random numbers were drawn since the state was kept."""
        if self._snapshot is not None and not self._again:
            self._unused = []
            self._between_updates = True
            self._snapshot.expire()

    def _look(
        self,
        held: Sequence[Value],
        *,
        step: int,
        by_optimizer: bool = False,
        by_hand: bool = False,
        skipped: bool = False,
    ) -> None:
        watch = self._watch
        updated = by_optimizer or by_hand
        doing_again = self._again and self._tracker is None
        lost = skipped and self._is_lost(step)
        if (lost or not skipped) and not watch.over and not doing_again:
            signs = self._signs_in(held)
            # A loss that is thrown away by hand, with the weights as they were, is no trouble.
            if signs and (updated or signs.weights or signs.outputs or watch.thrown_away_counts):
                self._wrong(signs, self._lost_steps[0] if lost else step)
            watch.thrown_away += bool(signs) and not updated
            watch.ended_by_loss = step if signs and not updated else None
        if not skipped:
            self._lost_steps = []
        self._loss = self._norm = None
        self._losses = []
        self._gradients = ()
        self._outputs = []
        if by_optimizer:
            self._updated_once()
        if watch.at is not None and self._tracker is None and step + 1 >= watch.at:
            self._begin_tracking()

    def _signs_in(self, held: Sequence[Value]) -> Signs:
        watch = self._watch
        looking = Looking(self._values, self._parameters, self._readings.summary, self._named, watch.limit)
        norm = self._values.read(self._norm) if self._norm is not None else 0.0
        watch.remember(norm, looking.size(held))
        return looking.signs(self._loss, norm, self._gradients, held, self._outputs)

    def _worst(self) -> Value:
        """The first loss of the step that is not finite, else the last."""
        found = (loss for loss in self._losses if not math.isfinite(self._values.read(loss)))
        return next(found, self._loss)

    def _is_lost(self, step: int) -> bool:
        """Whether a step was skipped that no scale can save."""
        if self._loss is None or math.isfinite(self._values.read(self._loss)):
            self._lost_steps = []
            return False
        self._lost_steps.append(step)
        return len(self._lost_steps) >= _LOST_STEPS or self._tracker is not None

    def _updated_once(self) -> None:
        """The batches since the last update belong to this one."""
        self._between_updates = True
        if self._snapshot is not None and not self._again:
            self._snapshot.fetched += self._unused
            self._snapshot.stepped()
            self._tail, self._unused = self._unused or self._tail, []

    def _wrong(self, signs: Signs, step: int) -> None:
        watch = self._watch
        if self._tracker is None:
            if watch.wrong_at is None:
                watch.wrong_at, watch.wrong_from, watch.signs = step, min(self._window, step), signs
                watch.announced = self._announced
            if watch.at is None and self._can_do_again():
                self._again = self._first_again = True
            elif not watch.go_on:
                self._end()
            return
        self._end_tracking()
        if watch.at is None and not signs.alike(watch.signs):
            self._end()
            return
        step = watch.wrong_at if watch.wrong_at is not None else step
        began = max(watch.at, 0) if watch.at is not None else watch.wrong_from
        way = "in_place" if watch.at is None else "afresh"
        rank, _ = rank_of([self._adapter])
        update = Hit(
            step,
            Part.UPDATE,
            self._optimizer.lower(),
            "nan",
            self._optimizer,
            line=self._step_line,
            way=way,
            rank=rank,
        )
        norms = watch.norms, watch.weights
        hit = hit_of(
            self._tracker,
            self._starts,
            signs,
            update,
            norms,
            self._rows,
            began,
            self._bad_field(),
            gradients_seen=self._norm is not None,
        )
        if watch.at is None and hit.cause == "bad_input":
            # What the script carries from step to step was made before this one.
            watch.doubtful = hit
            self._end()
            return
        watch.hit, watch.doing_again = hit, False
        if not watch.go_on:
            self._end()
        self._tracker, self._again, self._snapshot = None, False, None

    def _can_do_again(self) -> bool:
        """Whether state and batches are there as they were; if so, the batches are due once more."""
        if self._snapshot is None or not self._snapshot.whole:
            return False
        self._due = [*self._snapshot.fetched, *self._unused]
        self._last_step = len(self._unused or self._tail)
        return bool(self._due) and all(fetched.is_intact(self._values) for fetched in self._due)

    def _end(self) -> None:
        self._end_tracking()
        self._tracker, self._again, self._snapshot = None, False, None
        self._watch.doing_again = False
        if self._watch.go_on and self._watch.at is None:
            # Another run is to find it; this one goes on unwatched.
            self._watch.replay = False
            return
        if not self._watch.script_over:
            raise WatchEnded


class _Ahead(SilentObserver):
    """What a watcher notes before the recording hears of it, since that may close the step."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher

    def called(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
        self._watcher.call_comes(args, kwargs)

    def backward_began(self) -> None:
        self._watcher.backward_comes()

    def step_ended(self, optimizer: Optimizer, skipped: bool) -> None:
        self._watcher.update_ends()
