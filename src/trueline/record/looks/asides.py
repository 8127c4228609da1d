"""What adapters tell besides, turned into events: losses as they are called, weights that are loaded, schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from trueline.adapters.lines import user_line
from trueline.adapters.nouns import Network, Value
from trueline.adapters.protocol import Adapter
from trueline.model.json_value import JsonObject
from trueline.model.key import Phase
from trueline.model.location import Location
from trueline.model.run import EventName
from trueline.record.looks.criteria import Criterion, facts, facts_of_target
from trueline.record.open_step import Lazy
from trueline.record.recorder import Recorder

_STEPS_WITH_FACTS: Final = 4
_STEPS_WITH_NORMS: Final = 24
# Gradients are summed over so many batches, and less.
_STEPS_WITH_TARGETS: Final = 24
_MAX_CRITERIA: Final = 64
_MAX_NAMES: Final = 200
_MAX_UNCAST: Final = 16


class Asides:
    """Writes down the first of each kind; a recording is not to grow by what a check has seen already."""

    def __init__(self, recorder: Recorder, adapter: Adapter) -> None:
        self._training, self._boundaries, self._kept = recorder.training, recorder.boundaries, recorder.kept
        self._adapter = adapter
        self._values = adapter.values
        self._counts = recorder.kept.counts
        # Which of the user's lines are the project's own: asked at every call.
        self._own_lines: dict[Location, Location | None] = {}

    def told(self, what: str, said: Mapping[str, Any], stack: Sequence[Network]) -> None:
        """What an adapter has told."""
        if what == "criterion":
            self._criterion(Criterion(**said))
        elif what == "dropout":
            self._dropout(stack, said["rate"])
        elif what == "uncast":
            self._uncast(said, stack)
        elif what == "loaded":
            names = {name: list(said[name])[:_MAX_NAMES] for name in ("missing", "unexpected")}
            self._kept.event(EventName.LOADED, **{**said, **names}, line=self._line())
        elif what == "schedule":
            self._kept.event(EventName.SCHEDULE, **said, line=self._line())
        elif what == "workers":
            self._kept.event(EventName.WORKERS, **said)
        elif what == "child":
            self._counts.children += 1
        elif what == "children":
            self._counts.child_trained = said["trained"]
        elif what == "pulled":
            self._pulled(said["gradients"])
        elif what == "penalty":
            self._kept.event(EventName.PENALTY, **said, line=self._line())

    def _line(self) -> JsonObject | None:
        line = self._training.project.line(user_line(self._adapter.build.package()))
        return None if line is None else line.line_json()

    def _criterion(self, criterion: Criterion) -> None:
        if self._counts.criteria >= _MAX_CRITERIA or not self._values.is_tensor(criterion.prediction):
            return
        if not self._values.is_tensor(criterion.target) or not self._values.is_tensor(criterion.value):
            return
        self._counts.criteria += 1
        if self._boundaries.steps[Phase.TRAIN] < _STEPS_WITH_FACTS:
            told = facts(criterion, self._values, self._readable)
        else:
            told = {"function": criterion.name, "value": self._readable(criterion.value)}
            told["settings"] = {"reduction": criterion.settings.get("reduction", "mean")}
            if self._boundaries.steps[Phase.TRAIN] < _STEPS_WITH_TARGETS:
                told |= facts_of_target(criterion, self._values)
        self._kept.event(EventName.CRITERION, **told, line=self._line())

    def _pulled(self, gradients: Sequence[Value]) -> None:
        """The norm of what a backward has handed out, where gradients do not wait at parameters."""
        if self._boundaries.steps[Phase.TRAIN] < _STEPS_WITH_NORMS:
            for event in reversed(self._boundaries.open.events):
                if event.name is EventName.BACKWARD:
                    event.fields["norm"] = Lazy(self._values.read, self._values.norm(gradients))
                    break

    def _readable(self, value: Value) -> Lazy:
        return Lazy(self._values.read, self._values.keep(value))

    def _dropout(self, stack: Sequence[Network], rate: object) -> None:
        """A function that drops values is called: with which rate, and does it act although its network rests?"""
        if not stack or not isinstance(rate, int | float):
            return
        training = bool(getattr(self._values.unwrap(stack[0]), "training", True))
        line = user_line(self._adapter.build.package())
        if line is None:
            return
        if line not in self._own_lines:
            self._own_lines[line] = self._training.project.line(line)
        own = self._own_lines[line]
        if own is not None:
            rates = self._boundaries.open.rates
            rates[own] = max(rates.get(own, (rate, training)), (rate, training))
        at = (line.file, line.line)
        if rate and not training and at not in self._counts.dropouts:
            self._counts.dropouts.add(at)
            self._kept.event(EventName.DROPOUT, line=None if own is None else own.line_json())

    def _uncast(self, said: Mapping[str, Any], stack: Sequence[Network]) -> None:
        """A layer is called in another thread: is it one of the network that is called here?"""
        networks, module = self._training.networks, self._values.unwrap(said["module"])
        place = networks.place(module) if networks.known(module) else None
        outer = networks.place(self._values.unwrap(stack[0])) if stack else None
        if place is None or outer is None or place.root is not outer.root or place in self._counts.uncast:
            return
        if len(self._counts.uncast) < _MAX_UNCAST:
            self._counts.uncast.add(place)
            types = {name: str(said[name]) for name in ("dtype", "autocast")}
            self._kept.event(EventName.UNCAST, module=place, kind=type(module).__name__, **types, line=self._line())
