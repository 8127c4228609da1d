"""The calls of modules: which of them are a network's, where they are in it, and what they take and give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trueline.adapters.nouns import Network, Value
from trueline.adapters.tree import leaves
from trueline.model.key import Kind
from trueline.model.run import CallInfo, EventName
from trueline.record.network_inputs import LAYERS, described
from trueline.record.network_recognition import NetworkRecognition, Part, counts_over_calls
from trueline.record.networks import Place
from trueline.record.observers import SilentObserver
from trueline.record.open_step import Spot

if TYPE_CHECKING:
    from trueline.record.recorded import Recorded


class OpenCall(NamedTuple):
    """A module's call: its place among the networks (None: none yet), which of the step's calls it is, and its row."""

    module: Network
    place: Place | None = None
    call: int = 0
    position: int | None = None


class CallObserver(SilentObserver):
    """``stack`` are the calls that have not returned yet, ``returning`` the place of the one that returns now."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded, self._adapter, self._values = recorded, recorded.adapter, recorded.values
        self._training, self._boundaries = recorded.recorder.training, recorded.recorder.boundaries
        self._kept, self._wanted = recorded.recorder.kept, recorded.recorder.wanted
        self._recognition = NetworkRecognition(recorded.values)
        self.stack: list[OpenCall] = []
        self.returning: Place | None = None

    @property
    def wants_calls(self) -> bool:
        """Every module's calls are looked at in the first step of a phase and where tensors are wanted.

        So are those inside a module of which it is open whether it is a network.
        """
        return self._boundaries.capturing or self._boundaries.first_of_phase or bool(self._recognition.passed)

    # ---- calls

    def called(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
        if self._boundaries.in_backward:
            return
        recognition = self._recognition
        part = (
            Part.NONE if recognition.passed else Part.BEHIND if self.stack else recognition.part(module, args, kwargs)
        )
        if part is Part.NONE and not (recognition.passed and recognition.has_weights(module)):
            recognition.passed.append((module, args, kwargs))
            self.stack.append(OpenCall(module))
            return
        self._enter_passed()
        self._enter(module, args, kwargs, begins=part is Part.NETWORK)

    def _enter_passed(self) -> None:
        """The calls going on turn out to be a network's."""
        passed, self._recognition.passed = self._recognition.passed, []
        if passed:
            self.stack.clear()
            self._recognition.made(passed[0][0])
        for module, args, kwargs in passed:
            self._enter(module, args, kwargs, begins=not self.stack)

    def _enter(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value], *, begins: bool) -> None:
        boundaries = self._boundaries
        outermost = not self.stack
        if begins:
            self._begin(module, args, kwargs)
        parent = next((call.place for call in reversed(self.stack) if call.place is not None), None)
        place = self._place(module, parent)
        if place is None:
            self.stack.append(OpenCall(module))
            return
        if parent is None and place.root not in boundaries.open.modes:
            boundaries.open.modes[place.root] = self._kept.modes.seen(place.root)
            self._kept.evaluation_begins()
        call = boundaries.open.count_call(place)
        position = self._note_call(place, call, args, kwargs) if boundaries.first_of_phase else None
        self.stack.append(OpenCall(module, place, call, position))
        if begins:
            self._recorded.data.entered(args, kwargs)
        if boundaries.early and (outermost or (position is not None and self._is_first_layer(position))):
            fields = described(args, kwargs, self._values)
            if fields:
                self._kept.event(EventName.INPUT, module=place, kind=type(module).__name__, fields=fields)
        if boundaries.capturing and self._wanted.inputs and self._wanted.module(place.path):
            for index, tensor in leaves((*args, *kwargs.values()), self._values.is_tensor):
                self._kept.take(Spot(place, call, Kind.IN, index), tensor, self._values)

    def _begin(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
        """A network is called from outside: a step may begin with it."""
        self._recorded.updates.begin_iteration()
        self._training.look_around(self._adapter, self._values.training(module))
        inputs = [tensor for _, tensor in leaves((args, dict(kwargs)), self._values.is_tensor)]
        self._boundaries.batch_used(inputs)
        self._boundaries.forward_begins(module, self._adapter, inputs)

    def _place(self, module: Network, parent: Place | None) -> Place | None:
        networks = self._training.networks
        if networks.known(module):
            return networks.place(module)
        before = len(networks.roots)
        place = networks.meet(module, self._adapter, parent)
        for root in networks.roots[before:]:
            self._kept.meet_parameters(root)
        return place

    def _note_call(self, place: Place, call: int, args: Sequence[Value], kwargs: Mapping[str, Value]) -> int:
        tensors = [tensor for _, tensor in leaves((args, dict(kwargs)), self._values.is_tensor)]
        feeds = self._kept.edges.sources(tensors, self._values)
        calls = self._boundaries.open.calls
        calls.append((place, CallInfo("", call, "", self._recorded.line(), feeds)))
        return len(calls) - 1

    def _is_first_layer(self, position: int) -> bool:
        """Whether a call is one of the first, or is fed by none before it as far as that can be seen."""
        calls = self._boundaries.open.calls
        if position < LAYERS:
            return True
        return not calls[position][1].feeds_from and sum(not call.feeds_from for _, call in calls) <= LAYERS

    # ---- returns

    def returned(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value], output: Value) -> None:
        innermost = self.stack[-1] if self.stack and not self._boundaries.in_backward else None
        self.returning = innermost.place if innermost is not None and innermost.module is module else None
        if innermost is None:
            return
        outputs = list(leaves(output, self._values.is_tensor)) if output is not None else []
        passed = self._recognition.passed
        if passed and passed[0][0] is module:
            if self._recognition.trains_something(outputs):
                self._enter_passed()
            else:
                self._return_aside(module, outputs)
                return
        while self.stack:
            ended, place, call, position = self.stack.pop()
            if passed:
                passed.pop()
            if ended is module:
                break
        else:
            return
        if place is None or output is None:
            return
        if not self.stack:
            self._recognition.gave(outputs)
        if position is not None:
            self._kept.edges.made(position, [tensor for _, tensor in outputs], self._values)
        if self._boundaries.capturing and self._wanted.module(place.path):
            self._take_outputs(place, call, outputs)
        if not self.stack:
            self._maybe_loss(module, outputs)

    def _return_aside(self, module: Network, outputs: Sequence[tuple[str, Value]]) -> None:
        """What was called has nothing to do with a network, except that it may tell how well one does."""
        self._recognition.passed = []
        self.stack.clear()
        if self._boundaries.open.forwarded:
            self._maybe_loss(module, outputs)

    def _take_outputs(self, place: Place, call: int, outputs: Sequence[tuple[str, Value]]) -> None:
        for index, tensor in outputs:
            self._kept.take(Spot(place, call, Kind.OUT, index), tensor, self._values)
            if self._wanted.grads:
                self._adapter.hooks.on_gradient(tensor, self._gradient_taker(Spot(place, call, Kind.GOUT, index)))

    def _gradient_taker(self, spot: Spot) -> Callable[[Value], None]:
        step = self._boundaries.open

        def take(gradient: Value) -> None:
            if step is self._boundaries.open:
                self._kept.take(spot, gradient, self._values)

        return self._recorded.observers.guarded(take)

    def _maybe_loss(self, module: Network, outputs: Sequence[tuple[str, Value]]) -> None:
        """A scalar that an outermost module returns is the loss, where evaluation shows no other."""
        if len(outputs) != 1 or counts_over_calls(module):
            return
        tensor = outputs[0][1]
        if self._values.shape(tensor) in ((), (1,)) and "float" in self._values.dtype(tensor):
            self._recorded.updates.loss(tensor, "output")
