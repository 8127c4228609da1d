"""Counts the updates of a training with an experiment in it, and tells of each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from trueline.adapters.nouns import Optimizer, Value
from trueline.record.observers import SilentObserver
from trueline.record.process_exit import leave_at_once

if TYPE_CHECKING:
    from trueline.adapters.protocol import Adapter
    from trueline.record.run_mode import Experiment
    from trueline.tune.child.teller import Teller


class ExperimentObserver(SilentObserver):
    """Heard before the recording; an experiment is a class of this kind that does something besides.

    An update is one step of the optimizer that has stepped most often. Two optimizers that take turns, as those of two
    networks against each other, make one update together; several backward passes before one step are one update.
    An update is told once the next one begins, or at the end, since what belongs to it may come after its step.
    """

    def __init__(self, adapter: Adapter, experiment: Experiment, teller: Teller) -> None:
        self.adapter = adapter
        self.experiment = experiment
        self.teller = teller
        self.updates = 0
        """How many have begun."""
        self._inside = False
        self._steps: list[tuple[Optimizer, int]] = []
        self._losses: list[Value] = []
        self._open: dict[str, Any] | None = None

    @property
    def done(self) -> int:
        """How many have ended."""
        return self.updates - 1 if self._inside else self.updates

    # ---- what an experiment may do

    def began(self, optimizer: Optimizer, update: int) -> None:
        """An optimizer is about to step, for the update of this number (from 0)."""

    def ended(self, optimizer: Optimizer, update: int, *, skipped: bool) -> None:
        """It has stepped."""

    def note(self, **fields: Any) -> None:
        """Add fields to what is told of the update that is going on."""
        if self._open is not None:
            self._open.update(fields)

    def leave(self) -> None:
        """Take away what the experiment has put in place: the script is over."""

    # ---- what is heard

    def loss(self, value: Value, source: str) -> None:
        """A loss; what a network returns in evaluation is none that is trained on."""
        if source != "output":
            self._losses.append(self.adapter.values.keep(value))

    def step_due(self, optimizer: Optimizer) -> None:
        """An optimizer is about to step."""
        with self._told_trouble():
            self._inside = True
            number = self._count(optimizer)
            if number > self.updates:
                self._begin_update(number)
            self.began(optimizer, self.updates - 1)

    def _begin_update(self, number: int) -> None:
        self.tell_open()
        if self.updates >= self.experiment.updates:
            end_here(self.teller)
        self.updates = number
        self._open = {"step": number - 1, "loss": None, "losses": 0, "skipped": False, "t": self.teller.now()}

    def step_ended(self, optimizer: Optimizer, skipped: bool) -> None:
        """It has stepped: the losses since the step before are this one's, and the first optimizer's count."""
        with self._told_trouble():
            self._inside = False
            self.ended(optimizer, self.updates - 1, skipped=skipped)
            losses, self._losses = self._losses, []
            first = self._steps and self._steps[0][0] is optimizer
            if self._open is not None and losses and (first or self._open["loss"] is None):
                self.note(loss=losses, losses=len(losses))
            if skipped:
                self.note(skipped=True)

    @contextmanager
    def _told_trouble(self) -> Iterator[None]:
        """An experiment that fails ends the script: what it would go on with is not what was asked for."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - raised into the script, it could be swallowed there
            self.teller.tell("failed", kind=type(error).__name__, reason=str(error)[:300])
            leave_at_once(1)

    def tell_open(self) -> None:
        """Tell of the update that is over."""
        found, self._open = self._open, None
        if found is None:
            return
        if found["loss"] is not None:
            read = [self.adapter.values.read(loss) for loss in found["loss"]]
            found["loss"] = sum(read) / len(read)
        self.teller.tell("update", **found)

    def _count(self, optimizer: Optimizer) -> int:
        for place, (known, count) in enumerate(self._steps):
            if known is optimizer:
                self._steps[place] = (known, count + 1)
                return count + 1
        self._steps.append((optimizer, 1))
        self.teller.tell("optimizer", number=len(self._steps) - 1, kind=type(optimizer).__name__)
        return 1


def end_here(teller: Teller) -> None:
    """The experiment has what it was made for: nothing more is computed or written, not even what runs at exit."""
    teller.tell("enough")
    leave_at_once(0)
