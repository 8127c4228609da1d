"""When a step begins and ends: between a fetched batch and the next, or where an iteration begins anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from trueline.adapters.nouns import Loader, Network, Optimizer, Value
from trueline.adapters.protocol import Adapter
from trueline.model.json_value import JsonObject
from trueline.model.key import Phase
from trueline.model.run import EventName
from trueline.record.iterations import Iterations, called, last_update
from trueline.record.open_step import OpenStep
from trueline.record.training import Training
from trueline.record.waiting_batches import Waiting, WaitingBatches

# Calls in training mode wait for an update: after so many they are an evaluation.
_MAX_ROLLOUT_CALLS: Final = 1000
# In so many steps of a phase what enters the network is looked at.
_EARLY_STEPS: Final = 3
Events: TypeAlias = Sequence[JsonObject]


class StepBoundaries:
    """Holds the open step, and closes it: ``keep`` makes events of it, and ``over`` is told of them once it is counted.

    ``captures`` says whether the tensors of a step of this number are wanted.
    """

    def __init__(
        self,
        training: Training,
        captures: Callable[[int], bool],
        keep: Callable[[OpenStep, Phase, int], Events],
        over: Callable[[Phase, int, Events], None],
    ) -> None:
        self.open = OpenStep()
        self.steps = {Phase.TRAIN: 0, Phase.EVAL: 0}
        self.in_backward = 0
        self.waiting = WaitingBatches()
        self.capturing = False
        self.first_of_phase = False
        self.early = False
        self._captures, self._keep, self._over = captures, keep, over
        self._first = 0
        self._loader: int | None = None
        self._iterations = Iterations(training.networks, training.parameters, training.optimizers_alive)

    def attach(self, adapter: Adapter) -> None:
        """A framework has arrived."""
        self._iterations.attach(adapter)

    def begin_at(self, step: int) -> None:
        """The next training step has this number, as in the run that is replayed."""
        self.steps[Phase.TRAIN] = self._first = step

    def is_first(self, phase: Phase) -> bool:
        """Whether the open step is the first of a phase."""
        return self.steps[phase] == (self._first if phase is Phase.TRAIN else 0)

    def forget(self) -> None:
        """Let go of all that belongs to the open step."""
        self.open = OpenStep()

    # ---- data

    def data_wanted(self, loader: Loader) -> None:
        """A batch is asked for: the step before it is over, unless another loader serves the same step."""
        same = self._loader is None or self._loader == id(loader)
        if self.open.training or (self.open.forwarded and (same or not self.open.fetched)):
            self.close()
        self._loader = id(loader)

    def batch_used(self, inputs: Sequence[Value]) -> None:
        """An outermost module is called: with which of the batches that wait?

        One that is recognised by its tensors begins a step of its own; where none is (they were copied or moved),
        all that wait belong to the step.
        """
        batch = self.waiting.used(inputs)
        if batch is not None:
            if self.open.active and batch.loader in self.open.loaders:
                self.close()
            self._file(batch)
        elif not self.open.loaders:
            self._file_all()

    def _file_all(self) -> None:
        for batch in self.waiting.all():
            self._file(batch)

    def _file(self, batch: Waiting) -> None:
        self.open.fetched = True
        self.open.loaders.add(batch.loader)
        self.open.events.append(batch.event)
        self.open.events.sort(key=lambda event: event.at)

    # ---- forward

    def forward_begins(self, module: Network, adapter: Adapter, inputs: Sequence[Value]) -> None:
        """An outermost module is called: does a new step begin with it?"""
        step = self.open
        training = adapter.values.training(module)
        again = self._iterations.is_first(module)
        if step.fetched:
            over = step.stepped and not training
        else:
            over = step.stepped and self._iterations.is_called_anew(step, module, adapter, inputs)
        # Calls in training mode may be a rollout that is trained on later: they wait for it, though not for ever.
        evaluated = not step.training and (not step.may_train or step.calls_from_outside >= _MAX_ROLLOUT_CALLS)
        if over or (again and step.forwarded and not step.fetched and evaluated):
            self.close()
        if not self.open.forwarded:
            self._iterations.began_with(module)
            phase = Phase.TRAIN if training else Phase.EVAL
            self.first_of_phase = self.is_first(phase)
            self.early = self.steps[phase] - (self._first if phase is Phase.TRAIN else 0) < _EARLY_STEPS
            self.capturing = self._captures(self.steps[phase])
        elif training and not self.capturing:
            self.first_of_phase = self.first_of_phase or self.is_first(Phase.TRAIN)
            self.capturing = self._captures(self.steps[Phase.TRAIN])
        self.open.forwarded = True
        self.open.may_train = self.open.may_train or training
        self.open.calls_from_outside += 1
        called(self.open, module, training)

    # ---- backward and update

    @property
    def _is_without_loader(self) -> bool:
        """After an update in a loop without a loader, or in one that has fetched its batches before."""
        return self.open.stepped and (not self.open.fetched or self.waiting.has_of(self.open.loaders))

    def gradients_cleared(self, owner: Network | Optimizer, optimizer: int | None, adapter: Adapter) -> None:
        """An optimizer, or a network, clears its gradients: does the next iteration begin with it?"""
        step = self.open
        if self._is_without_loader and self._iterations.is_cleared_anew(step, owner, optimizer, adapter):
            self.close()

    def loss_comes(self) -> None:
        """Gradients are made: where they were cleared last and no network was called since, the step began there."""
        step = self.open
        if step.cleared_at is not None and not step.called_since_update and self._is_without_loader:
            self._close_at(step.cleared_at)
        step.cleared_at = None

    def update_begins(self, optimizer: int, *, whole: bool) -> None:
        """An optimizer updates: where it does so again, with new gradients, these were the next step's.

        A ``whole`` step, compiled as one, shows neither data nor calls: the same optimizer again is the next iteration.
        """
        if whole and optimizer in self.open.optimizers:
            if self._is_without_loader:
                self.close()
        else:
            place = last_update(self.open) if optimizer in self.open.optimizers and not self.open.fetched else None
            if place is not None:
                self._close_at(place)
        self.open.stepped = True
        self.open.called_since_update = False
        self.open.optimizers.add(optimizer)

    def update_undone(self, optimizer: int) -> None:
        """An update that was to be made with all that leads to it, in one graph, was not: nothing was computed."""
        step = self.open
        step.events = [
            event
            for event in step.events
            if event.name is not EventName.STEP or event.fields.get("optimizer") != optimizer
        ]
        step.optimizers.discard(optimizer)
        step.stepped = bool(step.optimizers)

    def updated_by_hand(self) -> None:
        """The script has updated its parameters without an optimizer, and goes on: with the next iteration."""
        if self.open.training and not self.open.fetched:
            self.close()

    # ---- the end of a step

    def _close_at(self, place: int) -> None:
        """Close the step before one of its events; the rest of them begins the next."""
        later, self.open.events = self.open.events[place:], self.open.events[:place]
        backward = sum(event.name is EventName.BACKWARD for event in self.open.events)
        pulled, self.open.backward = self.open.backward - backward, backward
        self.close()
        for event in later:
            micro = event.fields.get("micro")
            if isinstance(micro, int):
                event.fields["micro"] = micro - backward
        self.open.events += later
        self.open.backward = pulled

    def close(self) -> None:
        """End the open step, if anything happened in it, and begin the next."""
        if not self.open.active:
            return
        if not self.open.loaders:
            self._file_all()
        step, self.open = self.open, OpenStep()
        phase = Phase.TRAIN if step.training else Phase.EVAL
        number = self.steps[phase]
        events = self._keep(step, phase, number)
        self.steps[phase] += 1
        if phase is Phase.TRAIN:
            self._iterations.ended(step)
        self._over(phase, number, events)
