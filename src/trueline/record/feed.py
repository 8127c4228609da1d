"""One framework's side of a recording: what its hooks tell, turned into events and tensors of the open step."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from trueline.adapters.lines import user_line
from trueline.adapters.nouns import Network, Unreadable, Value
from trueline.adapters.protocol import Adapter
from trueline.adapters.tree import leaves
from trueline.model.key import Kind
from trueline.model.run import CallInfo, EventName
from trueline.record.batches import Laid, describe_batch, lay_out
from trueline.record.entering import LAYERS, described
from trueline.record.hand_updates import HandUpdates
from trueline.record.leading import Leading, Part, counts_over_calls
from trueline.record.looks.asides import Asides
from trueline.record.looks.gradients import GradientLook
from trueline.record.looks.leftovers import Leftovers
from trueline.record.networks import Place
from trueline.record.observers import Observers, SilentObserver
from trueline.record.open_step import Lazy, Spot
from trueline.record.recorder import Recorder

# So many batches of each loader are looked at closely.
_EARLY = 3
_LINES = 6


class OpenCall(NamedTuple):
    """A module's call: its place among the networks (None: none yet), which of the step's calls it is, and its row."""

    module: Network
    place: Place | None = None
    call: int = 0
    position: int | None = None


class Feed(SilentObserver):
    """Implements the adapters' Observer."""

    def __init__(self, recorder: Recorder, adapter: Adapter, observers: Observers) -> None:
        self.recorder = recorder
        self.values = adapter.values
        self.adapter = adapter
        self._observers = observers
        # The calls that have not returned yet, and the place of the one that returns now.
        self.stack: list[OpenCall] = []
        self.returning: Place | None = None
        self._leading = Leading(adapter.values)
        self._asked = 0.0
        # The norm of the gradients of the last update, where they were seen.
        self.norm: Value = None
        self._gradient_look = GradientLook(recorder, adapter)
        self._leftovers = Leftovers(adapter.values, recorder.counts.updates)
        self._asides = Asides(recorder, adapter)
        self._lined = recorder.counts.lines
        self.by_hand = HandUpdates(adapter.values)

    def turn_off(self, error: Exception) -> None:
        """Stop recording."""
        self.recorder.turn_off(error)

    def _at(self, event: EventName) -> dict[str, Any]:
        """The user's line of an event, for the first few of a kind."""
        told = self._lined.get(event, 0)
        if told >= _LINES:
            return {}
        self._lined[event] = told + 1
        line = self.recorder.project.line(user_line(self.adapter.build.package()))
        return {} if line is None else {"line": line.line_json()}

    @property
    def wants_calls(self) -> bool:
        """Every module's calls are looked at in the first step of a phase and where tensors are wanted.

        So are those inside a module of which it is open whether it is a network.
        """
        return self.recorder.capturing or self.recorder.first_of_phase or bool(self._leading.passed)

    @property
    def wants_parameters(self) -> bool:
        """An update without an optimizer shows in the parameters alone."""
        return self.by_hand.possible

    def _begin_iteration(self, using: Sequence[Any] = ()) -> None:
        """Forward or backward begins: with a new iteration, where the script has updated by itself since backward."""
        if self.by_hand.made(using):
            self.recorder.updated_by_hand()
            self.by_hand.forget()

    # ---- data

    def loader_began(self, loader: Any, facts: Mapping[str, Any]) -> None:
        number = self.recorder.loader_index(loader, facts)
        self.recorder.data_wanted(loader)
        line = self.recorder.project.line(user_line(self.adapter.build.package()))
        self.recorder.event(EventName.LOADER, loader=number, **facts, at=line.line_json() if line is not None else None)

    def fetch_began(self, loader: Any) -> None:
        self.recorder.data_wanted(loader)
        self._asked = time.perf_counter()

    def fetched(self, loader: Any, batch: Any, indexes: Sequence[int] | None) -> None:
        recorder = self.recorder
        waited = time.perf_counter() - self._asked
        if not recorder.open.active:
            recorder.open.began = time.perf_counter()
        laid = lay_out(batch, self.values, indexes)
        event = recorder.new_event(
            EventName.BATCH,
            source="loader",
            loader=recorder.loader_known(loader),
            waited=round(waited, 6),
            samples=describe_batch(laid, indexes, closely=self._is_early(id(loader))).to_json(),
        )
        self._tell_left_out(laid)
        if recorder.whole is not None:
            self._tell_too_large(recorder.whole.add(event, id(loader), laid))
        recorder.waiting.add(event, [one for _, one in leaves(batch, self.values.is_tensor)], id(loader))

    def loader_ended(self, loader: Any) -> None:
        self.recorder.data_wanted(loader)

    # ---- modules

    def called(self, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        recorder = self.recorder
        if recorder.in_backward:
            return
        leading = self._leading
        part = Part.NONE if leading.passed else Part.BEHIND if self.stack else leading.part(module, args, kwargs)
        if part is Part.NONE and not (leading.passed and leading.has_weights(module)):
            leading.passed.append((module, args, kwargs))
            self.stack.append(OpenCall(module))
            return
        self._enter_passed()
        self._enter(module, args, kwargs, begins=part is Part.NETWORK)

    def _enter_passed(self) -> None:
        """The calls going on turn out to be a network's."""
        passed, self._leading.passed = self._leading.passed, []
        if passed:
            self.stack.clear()
            self._leading.made(passed[0][0])
        for module, args, kwargs in passed:
            self._enter(module, args, kwargs, begins=not self.stack)

    def _enter(self, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], *, begins: bool) -> None:
        recorder = self.recorder
        outermost = not self.stack
        if begins:
            self._begin_iteration()
            training = self.values.training(module)
            recorder.look_around(self.adapter, training)
            inputs = [one for _, one in leaves((args, dict(kwargs)), self.values.is_tensor)]
            recorder.batch_used(inputs)
            recorder.forward_begins(module, self.adapter, inputs)
        parent = next((call.place for call in reversed(self.stack) if call.place is not None), None)
        if recorder.networks.known(module):
            place = recorder.networks.place(module)
        else:
            before = len(recorder.networks.roots)
            place = recorder.networks.meet(module, self.adapter, parent)
            for root in recorder.networks.roots[before:]:
                recorder.meet_parameters(root)
        if place is None:
            self.stack.append(OpenCall(module))
            return
        if parent is None and place.root not in recorder.open.modes:
            recorder.open.modes[place.root] = recorder.modes.seen(place.root)
            recorder.evaluation_begins()
        call = recorder.open.count_call(place)
        position = self._note_call(place, call, args, kwargs) if recorder.first_of_phase else None
        self.stack.append(OpenCall(module, place, call, position))
        if not recorder.open.fetched and begins and not recorder.open.backward and not self._batch_told():
            laid = lay_out((args, dict(kwargs)), self.values, None)
            samples = describe_batch(laid, None, closely=self._is_early(None)).to_json()
            told = recorder.event(EventName.BATCH, source="forward", loader=None, waited=0.0, samples=samples)
            if recorder.whole is not None:
                self._tell_too_large(recorder.whole.add(told, None, laid, from_loader=False))
            self._tell_left_out(laid)
        elif recorder.whole is not None and begins:
            given = {**{str(place): one for place, one in enumerate(args)}, **kwargs}
            self._tell_too_large(recorder.whole.enter(recorder.open.events, given, self.values))
        if recorder.early and (outermost or (position is not None and self._is_first_layer(position))):
            self._tell_input(module, place, args, kwargs)
        if recorder.capturing and recorder.wanted.inputs and recorder.wanted.module(place.path):
            for index, tensor in leaves((*args, *kwargs.values()), self.values.is_tensor):
                self._take(Spot(place, call, Kind.IN, index), tensor)

    def _tell_left_out(self, laid: Laid) -> None:
        for name in laid.left_out:
            self.notice("record.field_expanded", field=name)

    def _tell_too_large(self, left_out: str | None) -> None:
        if left_out is not None:
            self.recorder.notice(left_out, {})

    def _is_first_layer(self, position: int) -> bool:
        """Whether a call is one of the first, or is fed by none before it as far as that can be seen."""
        calls = self.recorder.open.calls
        if position < LAYERS:
            return True
        return not calls[position][1].feeds_from and sum(not one.feeds_from for _, one in calls) <= LAYERS

    def _tell_input(self, module: Any, place: Place, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        fields = described(args, kwargs, self.values)
        if fields:
            self.recorder.event(EventName.INPUT, module=place, kind=type(module).__name__, fields=fields)

    def _is_early(self, loader: int | None) -> bool:
        """Whether this is one of the first batches of a loader."""
        seen = self.recorder.counts.batches
        seen[loader] = seen.get(loader, 0) + 1
        return seen[loader] <= _EARLY

    def _batch_told(self) -> bool:
        return any(one["event"] == EventName.BATCH for one in self.recorder.open.events)

    def _note_call(self, place: Place, call: int, args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
        recorder = self.recorder
        tensors = [one for _, one in leaves((args, dict(kwargs)), self.values.is_tensor)]
        line = recorder.project.line(user_line(self.adapter.build.package()))
        feeds = recorder.edges.sources(tensors, self.values)
        recorder.open.calls.append((place, CallInfo("", call, "", line, feeds)))
        return len(recorder.open.calls) - 1

    def returned(self, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], output: Any) -> None:
        recorder = self.recorder
        innermost = self.stack[-1] if self.stack and not recorder.in_backward else None
        self.returning = innermost.place if innermost is not None and innermost.module is module else None
        if innermost is None:
            return
        outputs = list(leaves(output, self.values.is_tensor)) if output is not None else []
        passed = self._leading.passed
        if passed and passed[0][0] is module:
            if self._leading.trains_something(outputs):
                self._enter_passed()
            else:
                self._return_aside(module, outputs)
                return
        while self.stack:
            found, place, call, position = self.stack.pop()
            if passed:
                passed.pop()
            if found is module:
                break
        else:
            return
        if place is None or output is None:
            return
        if not self.stack:
            self._leading.gave(outputs)
        if position is not None:
            recorder.edges.made(position, [tensor for _, tensor in outputs], self.values)
        if recorder.capturing and recorder.wanted.module(place.path):
            self._take_outputs(place, call, outputs)
        if not self.stack:
            self._maybe_loss(module, outputs)

    def _return_aside(self, module: Any, outputs: Sequence[tuple[str, Any]]) -> None:
        """What was called has nothing to do with a network, except that it may tell how well one does."""
        self._leading.passed = []
        self.stack.clear()
        if self.recorder.open.forwarded:
            self._maybe_loss(module, outputs)

    def _take_outputs(self, place: Place, call: int, outputs: Sequence[tuple[str, Any]]) -> None:
        recorder = self.recorder
        for index, tensor in outputs:
            self._take(Spot(place, call, Kind.OUT, index), tensor)
            if recorder.wanted.grads:
                self.adapter.hooks.on_gradient(tensor, self._gradient_taker(Spot(place, call, Kind.GOUT, index)))

    def _take(self, spot: Spot, tensor: Any) -> None:
        recorder = self.recorder
        left_out = recorder.keeper.take(recorder.open, spot, tensor, self.values)
        if left_out is not None:
            recorder.notice(left_out, {"module": spot.place.path or type(tensor).__name__})

    def _gradient_taker(self, spot: Spot) -> Any:
        step = self.recorder.open

        def take(gradient: Any) -> None:
            if step is self.recorder.open:
                self._take(spot, gradient)

        return self._observers.guarded(take)

    def _maybe_loss(self, module: Any, outputs: Sequence[tuple[str, Any]]) -> None:
        """A scalar that an outermost module returns is the loss, where evaluation shows no other."""
        if len(outputs) != 1 or counts_over_calls(module):
            return
        tensor = outputs[0][1]
        if self.values.shape(tensor) in ((), (1,)) and "float" in self.values.dtype(tensor):
            self.loss(tensor, "output")

    # ---- training

    def mode_set(self, module: Any, training: bool) -> None:
        place = self.recorder.networks.place(self.values.unwrap(module))
        self.recorder.event(
            EventName.MODE,
            module=place if place is not None else "",
            kind=type(module).__name__,
            training=training,
            **self._at(EventName.MODE),
        )

    def zero_grad(self, owner: Any) -> None:
        of_module = self.values.is_module(owner) and not hasattr(owner, "param_groups")
        optimizer = None if of_module else self.recorder.optimizer_index(owner, self.adapter)
        self.recorder.gradients_cleared(owner, optimizer, self.adapter)
        if of_module:
            self.by_hand.cleared()
            self._begin_iteration()
        else:
            self.by_hand.optimizer_seen()
        self.recorder.event(EventName.ZERO_GRAD, optimizer=optimizer, **self._at(EventName.ZERO_GRAD))

    def loss(self, value: Any, source: str) -> None:
        recorder = self.recorder
        # What a network computes on its way is not what it is judged by.
        if recorder.in_backward or (source == "output" and self.stack):
            return
        if source == "backward":
            self._begin_iteration()
            recorder.backward_begins()
        micro = recorder.open.backward
        index = sum(
            one["event"] == EventName.LOSS and one["micro"] == micro and one["source"] == source
            for one in recorder.open.events
        )
        kept = Lazy(self.values.read, self.values.keep(value))
        recorder.event(EventName.LOSS, value=kept, micro=micro, index=index, source=source, **self._at(EventName.LOSS))

    def forward_began(self, parameters: Sequence[Any]) -> None:
        if not self.recorder.in_backward and not self.stack:
            self._begin_iteration(parameters)
            self.by_hand.handed(parameters)

    def backward_began(self) -> None:
        # Reentrant checkpointing runs a backward of its own inside the user's.
        if not self.recorder.in_backward:
            self._leftovers.backward_begins()
            self.by_hand.backward_begins()
            self.recorder.event(EventName.BACKWARD, micro=self.recorder.open.backward)
            self.recorder.open.backward += 1
        self.recorder.in_backward += 1

    def backward_ended(self) -> None:
        self.recorder.in_backward = max(self.recorder.in_backward - 1, 0)
        if not self.recorder.in_backward:
            self._leftovers.backward_ends()

    def pulled(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        if not self.recorder.in_backward:
            self.by_hand.pulled(pairs)
            if self.by_hand.possible:
                self._tell_norm([gradient for _, gradient in pairs if gradient is not None])

    def _tell_norm(self, gradients: Sequence[Any]) -> None:
        """No optimizer will tell what it gets: the norm of what the pass has left."""
        last = next((one for one in reversed(self.recorder.open.events) if one["event"] == EventName.BACKWARD), None)
        if last is not None and gradients:
            # One that stands for many, or holds no numbers, has no norm.
            with contextlib.suppress(Unreadable, RuntimeError, TypeError, ValueError, NotImplementedError):
                last["grad_norm"] = Lazy(self.values.read, self.values.keep(self.values.norm(gradients)))

    def scale(self, value: Any) -> None:
        self.recorder.event(EventName.SCALE, value=Lazy(self.values.read, value))

    def unscaled(self, optimizer: Any) -> None:
        index = None if optimizer is None else self.recorder.optimizer_index(optimizer, self.adapter)
        self.recorder.event(EventName.UNSCALE, optimizer=index, **self._at(EventName.UNSCALE))

    def clipped(self, kind: str, limit: float, norm: Any) -> None:
        kept = None if norm is None else Lazy(self.values.read, self.values.keep(norm))
        self.recorder.event(EventName.CLIP, kind=kind, limit=limit, norm=kept, **self._at(EventName.CLIP))

    def step_due(self, _optimizer: Any) -> None:
        # Nothing of it is recorded before the gradients are known.
        self.by_hand.optimizer_seen(updates=True)

    def step_began(self, optimizer: Any, gradients: Sequence[tuple[Any, Any]] | None) -> None:
        recorder = self.recorder
        index = recorder.optimizer_index(optimizer, self.adapter)
        groups = self.values.groups(optimizer)
        # A step compiled as a whole shows neither data nor calls: the same optimizer again is the next iteration.
        if gradients is None and index in recorder.open.optimizers:
            recorder.outside_step()
        else:
            recorder.update_begins(index)
        recorder.open.stepped = True
        recorder.open.called_since_update = False
        recorder.open.optimizers.add(index)
        norm = self.norm = None
        seen = self._leftovers.updating(index, gradients) if gradients is not None else {}
        self._gradient_look.look(index, groups, gradients)
        if gradients is not None:
            # Some optimizers take scaled gradients and divide them by themselves.
            scale = float(next((group.settings["loss_scale"] for group in groups if "loss_scale" in group.settings), 1))
            self.norm = self.values.norm([gradient for _, gradient in gradients])
            norm = Lazy(lambda scalar: self.values.read(scalar) / scale, self.norm)
            if recorder.capturing and recorder.wanted.grads:
                self._take_parameter_gradients(gradients)
        recorder.event(
            EventName.STEP,
            optimizer=index,
            kind=type(optimizer).__name__,
            lr=[group.settings.get("lr") for group in groups],
            grad_norm=norm,
            skipped=False,
            **seen,
            **self._at(EventName.STEP),
        )

    def _take_parameter_gradients(self, gradients: Sequence[tuple[Any, Any]]) -> None:
        recorder = self.recorder
        for parameter, gradient in gradients:
            named = recorder.parameters.find(parameter)
            if named is not None and recorder.wanted.module(named.place.path):
                spot = Spot(named.place, 0, Kind.GRAD, named.leaf)
                self._take(spot, gradient)

    def step_ended(self, optimizer: Any, skipped: bool) -> None:
        index = self.recorder.optimizer_index(optimizer, self.adapter)
        if skipped:
            for event in reversed(self.recorder.open.events):
                if event["event"] == EventName.STEP and event["optimizer"] == index:
                    event["skipped"] = True
                    break
            self.recorder.event(EventName.OVERFLOW, optimizer=index)

    def scheduled(self, scheduler: Any) -> None:
        optimizer = getattr(scheduler, "optimizer", None)
        rates = [group.settings.get("lr") for group in self.values.groups(optimizer)] if optimizer is not None else []
        self.recorder.event(
            EventName.SCHEDULER, kind=type(scheduler).__name__, lr=rates, **self._at(EventName.SCHEDULER)
        )

    def aside(self, what: str, **facts: Any) -> None:
        if what == "undone":
            self.recorder.step_undone(self.recorder.optimizer_index(facts["optimizer"], self.adapter))
        elif what == "pulled" or not self.recorder.in_backward:
            self._asides.told(what, facts, [call.module for call in self.stack])

    def notice(self, message_id: str, **params: Any) -> None:
        self.recorder.notice(message_id, params)
