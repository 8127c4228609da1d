"""What is kept of a training: events, Summaries and tensors of each step, and what only checks ask for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from trueline.adapters.nouns import Value
from trueline.adapters.protocol import Values
from trueline.formats.run_folder.batches import WholeBatch
from trueline.kernel.array import Array
from trueline.model.json_value import JsonObject
from trueline.model.key import Key, Kind, Phase
from trueline.model.message import Message
from trueline.model.run import EventName
from trueline.model.summary import Summary
from trueline.record.edges import Edges
from trueline.record.looks.modes import ModeLook
from trueline.record.looks.normalisers import NormaliserLook
from trueline.record.looks.rates import RateLook
from trueline.record.looks.replicas import marks
from trueline.record.looks.row_pairs import RowPairs
from trueline.record.looks.unheld import UnheldLook
from trueline.record.looks.weights import any_sharded, buffers, fingerprints, shared
from trueline.record.looks.when import due
from trueline.record.networks import Place, Root
from trueline.record.open_step import Field, OpenEvent, OpenStep, Spot
from trueline.record.ranks import rank_of
from trueline.record.step_boundaries import StepBoundaries
from trueline.record.tensors import EXPANDED, TensorKeeper
from trueline.record.training import Training
from trueline.record.wanted import Wanted
from trueline.record.whole_batches import WholeBatches


@dataclass(frozen=True, slots=True)
class KeptStep:
    """A finished step as it goes into the run folder."""

    number: int
    phase: Phase
    events: list[JsonObject]
    stats: Sequence[tuple[Key, Summary]]
    tensors: Mapping[Key, Array]
    batches: list[WholeBatch] | None


@dataclass(slots=True)
class Counts:
    """How often what was looked at: kept as long as a recording, also where its hooks are taken away and put back."""

    gradients: dict[int, int] = field(default_factory=dict)
    updates: dict[int, int] = field(default_factory=dict)
    followed: dict[int, int] = field(default_factory=dict)
    criteria: int = 0
    batches: dict[int | None, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    # Processes that the script has started, and whether a forked one has trained.
    children: int = 0
    child_trained: Callable[[], bool] = bool
    dropouts: set[tuple[str, int]] = field(default_factory=set)
    uncast: set[Place] = field(default_factory=set)


class Kept:
    """Fills the open step with what is wanted of it."""

    def __init__(self, wanted: Wanted, training: Training, boundaries: StepBoundaries) -> None:
        self.wanted = wanted
        self.counts = Counts()
        self.modes = ModeLook()
        self.rates = RateLook()
        self.pairs = RowPairs(training.project)
        self.normalisers = NormaliserLook()
        self.edges = Edges()
        self.whole = WholeBatches(wanted.batches) if wanted.batches else None
        self.notices: list[Message] = []
        # What is asked at the end of every training step with an update, by adapter.
        self.unheld: dict[int, UnheldLook] = {}
        self._training = training
        self._boundaries = boundaries
        self._tensors = TensorKeeper(wanted)
        self._began = time.perf_counter()
        self._keys: dict[Spot, dict[Phase, Key]] = {}
        self._evaluated_after: int | None = None
        self._world: int | None = None

    # ---- while the step is open

    def event(self, name: EventName, **fields: Field) -> OpenEvent:
        """Append an event to the open step."""
        event = self.new_event(name, **fields)
        self._boundaries.open.events.append(event)
        return event

    def new_event(self, name: EventName, **fields: Field) -> OpenEvent:
        """An event of this moment."""
        return OpenEvent(name, round(time.perf_counter() - self._began, 6), fields)

    def notice(self, message_id: str, **params: object) -> None:
        """Say once what could not be captured."""
        said = Message(message_id, params)
        if said not in self.notices:
            self.notices.append(said)
            self.event(EventName.NOTICE, message_id=message_id, params=params)

    def unwritten_notices(self) -> list[JsonObject]:
        """Those after the last step."""
        events = self._boundaries.open.events
        return [dict(event.finished()) for event in events if event.name is EventName.NOTICE]

    def take(self, spot: Spot, tensor: Value, values: Values) -> None:
        """Keep what is wanted of a tensor of the open step."""
        left_out = self._tensors.take(self._boundaries.open, spot, tensor, values)
        if left_out is not None:
            self.notice(left_out, module=spot.place.path or type(tensor).__name__)

    def meet_parameters(self, root: Root) -> None:
        """Remember a new network's parameters, and say which of them were too far expanded to be read."""
        for name in self._training.parameters.meet(root):
            self.notice(EXPANDED, module=name)

    def evaluation_begins(self) -> None:
        """A network is called: where this may be the first step of an evaluation, its buffers are remembered."""
        steps, step = self._boundaries.steps, self._boundaries.open
        first = self._evaluated_after != steps[Phase.TRAIN] and due(steps[Phase.EVAL])
        if first and not step.training and step.buffers is None and steps[Phase.TRAIN]:
            step.buffers = buffers(self._training.networks)

    # ---- when it is over

    def finished(self, step: OpenStep, phase: Phase, number: int) -> KeptStep:
        """All that is written of a step."""
        self._training.name_roots()
        if phase is Phase.TRAIN and self.wanted.weights and self.wanted.captures(number):
            self._take_weights(step)
        if self._boundaries.is_first(phase):
            self._training.remember_calls(step.calls, phase)
        self._look(step, phase, number)
        at: JsonObject = {"step": number, "phase": phase.value}
        events: list[JsonObject] = [{**event.finished(), **at} for event in step.events if _belongs(event, phase)]
        seconds = time.perf_counter() - step.began
        events.append({**self.new_event(EventName.END).finished(), **at, "seconds": round(seconds, 6)})
        return KeptStep(
            number,
            phase,
            events,
            [(self._key(spot, phase), summary) for spot, summary in step.stats],
            {self._key(spot, phase): array for spot, array in step.tensors},
            self.whole.of_step(step.events, phase) if self.whole is not None else None,
        )

    def forget_step(self) -> None:
        """Let go of what belongs to the step that was written."""
        self._tensors.forget()
        self.edges.forget()

    def _look(self, step: OpenStep, phase: Phase, number: int) -> None:
        """What checks ask for, at the end of a step."""
        networks, trained = self._training.networks, self._boundaries.steps[Phase.TRAIN]
        for root, mode in step.modes.items():
            fields = self.modes.changed(root, phase, mode) if mode is not None else None
            if fields is not None:
                held = self._training.parameters.holders(root)
                step.events.append(self.new_event(EventName.MODES, **fields, held=held))
        if phase is Phase.TRAIN and step.stepped:
            for look in self.unheld.values():
                step.events += [self.new_event(EventName.UNHELD, **fields) for fields in look.still()]
                step.events += [self.new_event(EventName.FROZEN, **fields) for fields in look.moved()]
                apart, look.ties.found = look.ties.found, []
                step.events += [self.new_event(EventName.UNTIED, **fields) for fields in apart]
        for fields in self.rates.changed(step.rates, phase):
            step.events.append(self.new_event(EventName.RATE, **fields))
        for fields in self.pairs.reduced():
            step.events.append(self.new_event(EventName.BROADCAST, **fields))
        for root in step.modes:
            for place, fields in self.normalisers.first_used(root):
                step.events.append(self.new_event(EventName.NORMALISER, module=place, **fields))
        if phase is Phase.TRAIN and step.stepped and due(number + 1):
            weights = self.new_event(
                EventName.WEIGHTS,
                fingerprints=fingerprints(networks),
                shared=shared(networks),
                sharded=any_sharded(networks),
            )
            step.events.append(weights)
        elif phase is Phase.TRAIN and self._is_rank_of_several():
            step.events.append(self.new_event(EventName.REPLICAS, fingerprints=marks(networks, number)))
        if phase is Phase.EVAL:
            self._evaluated_after = trained
            if step.buffers:
                now = buffers(networks)
                moved = [name for name, before in step.buffers.items() if now.get(name, before) != before]
                step.events.append(self.new_event(EventName.BUFFERS, moved=moved, looked=len(now)))

    def _is_rank_of_several(self) -> bool:
        if self._world is None:
            self._world = rank_of(self._training.adapters)[1]
        return self._world > 1

    def _key(self, spot: Spot, phase: Phase) -> Key:
        by_phase = self._keys.setdefault(spot, {})
        if phase not in by_phase:
            by_phase[phase] = Key(phase, spot.place.full, spot.call, spot.kind, spot.index)
        return by_phase[phase]

    def _take_weights(self, step: OpenStep) -> None:
        for root, module in self._training.networks.alive():
            for tensor in root.adapter.values.tensors(module):
                path, _, leaf = tensor.name.rpartition(".")
                place = Place(root, path)
                if self.wanted.module(place.full):
                    spot = Spot(place, 0, Kind.BUFFER if tensor.buffer else Kind.PARAM, leaf)
                    left_out = self._tensors.take(step, spot, tensor.value, root.adapter.values)
                    if left_out is not None and left_out != "record.unreadable":
                        params = {"module": tensor.name}
                        step.events.append(self.new_event(EventName.NOTICE, message_id=left_out, params=params))


def _belongs(event: OpenEvent, phase: Phase) -> bool:
    """A scalar that a network returned is a loss in evaluation only; in training the loss is what backward got."""
    return phase is Phase.EVAL or event.fields.get("source") != "output"
