"""Losses, gradients and what is done with them, until weights are updated; and all else that is told of a training."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from trueline.adapters.nouns import Network, Optimizer, Unreadable, Value
from trueline.model.json_value import JsonObject
from trueline.model.key import Kind
from trueline.model.run import EventName
from trueline.record.hand_updates import HandUpdates
from trueline.record.looks.asides import Asides
from trueline.record.looks.gradients import GradientLook
from trueline.record.looks.initialised import InitialisedLook
from trueline.record.looks.leftovers import Leftovers
from trueline.record.looks.unheld import UnheldLook
from trueline.record.looks.updates import UpdateLook
from trueline.record.observers import SilentObserver
from trueline.record.open_step import Lazy, Spot

if TYPE_CHECKING:
    from trueline.record.recorded import Recorded

# Of so many events of a kind the user's line is kept.
_EVENTS_WITH_LINE: Final = 6


class UpdateObserver(SilentObserver):
    """``norm`` is that of the last update's gradients, where they were seen; ``by_hand`` what no optimizer does."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded, self._adapter, self._values = recorded, recorded.adapter, recorded.values
        self._recorder = recorded.recorder
        self._training, self._boundaries = self._recorder.training, self._recorder.boundaries
        self._kept = self._recorder.kept
        self._gradient_look = GradientLook(self._recorder, recorded.adapter)
        self._leftovers = Leftovers(recorded.values, self._kept.counts.updates)
        self._asides = Asides(self._recorder, recorded.adapter)
        self._unheld = self._kept.unheld[id(recorded.adapter)] = UnheldLook(self._training, recorded.adapter)
        self._update_look = UpdateLook(self._training, self._kept, recorded.values)
        self._initialised = InitialisedLook(self._training, self._kept, recorded.adapter)
        self._clipped: set[int] = set()
        self.by_hand = HandUpdates(recorded.values)
        self.norm: Value = None

    def turn_off(self, error: Exception) -> None:
        """Stop recording."""
        self._recorder.turn_off(error)

    @property
    def wants_parameters(self) -> bool:
        """An update without an optimizer shows in the parameters alone."""
        return self.by_hand.possible

    def begin_iteration(self, using: Sequence[Value] = ()) -> None:
        """Forward or backward begins: with a new iteration, where the script has updated by itself since backward."""
        if self.by_hand.made(using):
            self._boundaries.updated_by_hand()
            self.by_hand.forget()

    def _line_of(self, event: EventName) -> dict[str, JsonObject]:
        """The user's line of an event, for the first few of a kind."""
        lines = self._kept.counts.lines
        count = lines.get(event, 0)
        if count >= _EVENTS_WITH_LINE:
            return {}
        lines[event] = count + 1
        line = self._recorded.line()
        return {} if line is None else {"line": line.line_json()}

    def _optimizer(self, optimizer: Optimizer) -> int:
        return self._training.optimizer_index(optimizer, self._adapter)

    # ---- forward

    def mode_set(self, module: Network, training: bool) -> None:
        place = self._training.networks.place(self._values.unwrap(module))
        self._kept.event(
            EventName.MODE,
            module=place if place is not None else "",
            kind=type(module).__name__,
            training=training,
            **self._line_of(EventName.MODE),
        )

    def forward_began(self, parameters: Sequence[Value]) -> None:
        if not self._boundaries.in_backward and not self._recorded.calls.stack:
            self.begin_iteration(parameters)
            self.by_hand.handed(parameters)

    def loss(self, value: Value, source: str) -> None:
        # What a network computes on its way is not what it is judged by.
        if self._boundaries.in_backward or (source == "output" and self._recorded.calls.stack):
            return
        if source == "backward":
            self.begin_iteration()
            self._boundaries.loss_comes()
        micro = self._boundaries.open.backward
        index = sum(
            event.name is EventName.LOSS and event.fields["micro"] == micro and event.fields["source"] == source
            for event in self._boundaries.open.events
        )
        kept = Lazy(self._values.read, self._values.keep(value))
        self._kept.event(
            EventName.LOSS, value=kept, micro=micro, index=index, source=source, **self._line_of(EventName.LOSS)
        )

    # ---- backward

    def zero_grad(self, owner: Network | Optimizer) -> None:
        of_module = self._values.is_module(owner) and not hasattr(owner, "param_groups")
        optimizer = None if of_module else self._optimizer(owner)
        self._boundaries.gradients_cleared(owner, optimizer, self._adapter)
        if of_module:
            self.by_hand.cleared()
            self.begin_iteration()
        else:
            self.by_hand.optimizer_seen()
        self._kept.event(EventName.ZERO_GRAD, optimizer=optimizer, **self._line_of(EventName.ZERO_GRAD))

    def backward_began(self) -> None:
        # Reentrant checkpointing runs a backward of its own inside the user's.
        if not self._boundaries.in_backward:
            self._leftovers.backward_begins()
            self.by_hand.backward_begins()
            self._kept.event(EventName.BACKWARD, micro=self._boundaries.open.backward)
            self._boundaries.open.backward += 1
        self._boundaries.in_backward += 1

    def backward_ended(self) -> None:
        self._boundaries.in_backward = max(self._boundaries.in_backward - 1, 0)
        if not self._boundaries.in_backward:
            self._leftovers.backward_ends()

    def pulled(self, pairs: Sequence[tuple[Value, Value]]) -> None:
        if not self._boundaries.in_backward:
            self.by_hand.pulled(pairs)
            if self.by_hand.possible:
                self._note_norm([gradient for _, gradient in pairs if gradient is not None])

    def _note_norm(self, gradients: Sequence[Value]) -> None:
        """No optimizer will tell what it gets: the norm of what the pass has left."""
        events = reversed(self._boundaries.open.events)
        last = next((event for event in events if event.name is EventName.BACKWARD), None)
        if last is not None and gradients:
            # One that stands for many, or holds no numbers, has no norm.
            with contextlib.suppress(Unreadable, RuntimeError, TypeError, ValueError, NotImplementedError):
                last.fields["grad_norm"] = Lazy(self._values.read, self._values.keep(self._values.norm(gradients)))

    def scale(self, value: Value) -> None:
        self._kept.event(EventName.SCALE, value=Lazy(self._values.read, value))

    def unscaled(self, optimizer: Optimizer) -> None:
        index = None if optimizer is None else self._optimizer(optimizer)
        self._kept.event(EventName.UNSCALE, optimizer=index, **self._line_of(EventName.UNSCALE))

    def clipped(self, kind: str, limit: float, norm: Value) -> None:
        kept = None if norm is None else Lazy(self._values.read, self._values.keep(norm))
        self._kept.event(EventName.CLIP, kind=kind, limit=limit, norm=kept, **self._line_of(EventName.CLIP))

    def _note_clipping(self, parameters: Sequence[Value], count: int) -> None:
        """How many gradients were clipped, and of which parameters, where that can be told."""
        self._clipped.update(map(id, parameters))
        events = reversed(self._boundaries.open.events)
        last = next((event for event in events if event.name is EventName.CLIP), None)
        if last is not None:
            last.fields["count"] = count

    # ---- updates

    def step_due(self, optimizer: Optimizer) -> None:
        # Nothing of it is recorded before the gradients are known.
        self.by_hand.optimizer_seen(updates=True)

    def step_began(self, optimizer: Optimizer, gradients: Sequence[tuple[Value, Value]] | None) -> None:
        index = self._optimizer(optimizer)
        groups = self._values.groups(optimizer)
        self._boundaries.update_begins(index, whole=gradients is None)
        norm = self.norm = None
        seen = self._leftovers.updating(index, gradients) if gradients is not None else {}
        self._training.hold(index, groups)
        self._unheld.updating(self._boundaries.open, index, self._training.built_at(index), groups, gradients)
        self._gradient_look.look(index, groups, gradients)
        self._update_look.began(index, optimizer, groups, gradients)
        if gradients is not None:
            # Some optimizers take scaled gradients and divide them by themselves.
            scale = float(next((group.settings["loss_scale"] for group in groups if "loss_scale" in group.settings), 1))
            self.norm = self._values.norm([gradient for _, gradient in gradients])
            norm = Lazy(lambda scalar: self._values.read(scalar) / scale, self.norm)
            if self._clipped:
                seen["clipped"] = sum(id(parameter) in self._clipped for parameter, _ in gradients)
                self._clipped = set()
            if self._boundaries.capturing and self._kept.wanted.grads:
                self._take_gradients(gradients)
        self._kept.event(
            EventName.STEP,
            optimizer=index,
            kind=type(optimizer).__name__,
            lr=[group.settings.get("lr") for group in groups],
            grad_norm=norm,
            skipped=False,
            **seen,
            **self._line_of(EventName.STEP),
        )

    def _take_gradients(self, gradients: Sequence[tuple[Value, Value]]) -> None:
        for parameter, gradient in gradients:
            named = self._training.parameters.find(parameter)
            if named is not None and self._kept.wanted.module(named.place.path):
                self._kept.take(Spot(named.place, 0, Kind.GRAD, named.leaf), gradient, self._values)

    def step_ended(self, optimizer: Optimizer, skipped: bool) -> None:
        index = self._optimizer(optimizer)
        self._update_look.ended(index, skipped)
        if skipped:
            for event in reversed(self._boundaries.open.events):
                if event.name is EventName.STEP and event.fields["optimizer"] == index:
                    event.fields["skipped"] = True
                    break
            self._kept.event(EventName.OVERFLOW, optimizer=index)

    def scheduled(self, scheduler: object) -> None:
        optimizer = getattr(scheduler, "optimizer", None)
        rates = [group.settings.get("lr") for group in self._values.groups(optimizer)] if optimizer is not None else []
        self._kept.event(
            EventName.SCHEDULER,
            kind=type(scheduler).__name__,
            lr=rates,
            optimizer=self._optimizer(optimizer) if optimizer is not None else None,
            **self._line_of(EventName.SCHEDULER),
        )

    # ---- what else is told

    def aside(self, what: str, **facts: Any) -> None:
        if what == "undone":
            self._boundaries.update_undone(self._optimizer(facts["optimizer"]))
        elif what == "pulled":
            self._unheld.pulled(facts.get("parameters", ()))
            self._told_aside(what, facts)
        elif what == "initialised":
            self._initialised.told(facts["parameter"])
        elif what == "clipping":
            self._note_clipping(facts["parameters"], facts["count"])
        elif not self._boundaries.in_backward:
            self._told_aside(what, facts)

    def _told_aside(self, what: str, facts: dict[str, Any]) -> None:
        self._asides.told(what, facts, [call.module for call in self._recorded.calls.stack])

    def notice(self, message_id: str, **params: object) -> None:
        self._kept.notice(message_id, **params)
