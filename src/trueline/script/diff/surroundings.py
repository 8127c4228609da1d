"""What stands around a difference, on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from trueline.script.diff.comparing import Comparing
from trueline.script.diff.contexts import Contexts
from trueline.script.diff.difference import Difference, Kind
from trueline.script.diff.naming import word_of
from trueline.script.diff.subject import Subject
from trueline.script.roles import Role
from trueline.script.trace import CALL, UNCALLED, Event
from trueline.script.values import Const, Made, ancestry, constant


class Surroundings:
    """Both scripts, and all that differs between them."""

    def __init__(self, comparing: Comparing) -> None:
        self.mine, self.bench = Contexts(comparing.script), Contexts(comparing.bench)
        self.comparing = comparing
        self.found: Sequence[Difference] = list(comparing.found.values())

    def event_of(self, difference: Difference) -> tuple[Event | None, Contexts]:
        """The event that a difference happens at, and the side that it is of."""
        if difference.mine is not None and difference.mine.event is not None and difference.kind is not Kind.MISSING:
            return difference.mine.event, self.mine
        if difference.bench is not None and difference.bench.event is not None and difference.kind is Kind.MISSING:
            return difference.bench.event, self.bench
        inside = next((node.event for node in difference.chain if node.event is not None), None)
        if inside is not None:
            return inside, self.bench if difference.kind is Kind.MISSING else self.mine
        if difference.owner is not None:
            return difference.owner[0], self.mine
        return None, self.mine

    def lacks(self, word: str) -> bool:
        """Whether the script does not do what the benchmark does."""
        return any(
            difference.kind is Kind.MISSING and difference.bench is not None and difference.bench.name == word
            for difference in self.found
        )

    def is_of_data(self, difference: Difference) -> bool:
        """Whether samples are made of what differs."""
        return any(
            node.value is not None
            and not isinstance(node.value, Const)
            and (id(node.value) in side.of_training or id(node.value) in side.of_evaluation)
            for node, side in ((difference.mine, self.mine), (difference.bench, self.bench))
            if node is not None
        )

    def evaluates(self, name: str) -> bool:
        """Whether a function of the project calls a network and trains none."""
        inside = [
            event
            for event in self.mine.script.trace.events
            if any(scope.kind in (CALL, UNCALLED) and scope.name == name for scope in event.scopes)
        ]
        roles = {event.role for event in inside}
        return bool(roles & {Role.FORWARD, Role.LOSS}) and Role.BACKWARD not in roles

    def clears_gradients(self) -> bool:
        """Whether the script clears gradients in a loop that trains, in whatever way."""
        for event in self.mine.script.trace.events:
            by_hand = (
                event.method == "__setattr__" and isinstance(event.arg(0), Const) and constant(event.arg(0)) == "grad"
            )
            if (event.role is Role.ZERO_GRAD or by_hand) and self.mine.is_in_training(event):
                return True
        return False

    def is_cleared_before_step(self, event: Event) -> bool:
        """Whether gradients are cleared between backward and the step: after a step is as good as before backward."""
        loops = [scope for scope in event.loops() if scope in self.mine.inner_loops]
        if not loops:
            return False
        later = [
            event_after for event_after in self.mine.script.trace.within(loops[-1]) if event_after.index > event.index
        ]
        roles = [
            event_after.role
            for event_after in later
            if event_after.role in (Role.BACKWARD, Role.STEP, Role.SCALER_STEP)
        ]
        return bool(roles) and roles[0] is not Role.BACKWARD

    def has_activation(self, word: str) -> bool:
        """Whether an activation is an argument of a layer in one, and a call of its own in the other."""
        given = {
            str(node.constant)
            for difference in self.found
            if difference.argument == "activation"
            for node in difference.nodes
        }
        called = {
            node.name
            for difference in self.found
            if difference.kind in (Kind.EXTRA, Kind.MISSING)
            for node in (difference.chain or difference.nodes)
        }
        return word in given and word in called

    def loads_copy(self) -> bool:
        """Whether the script loads weights into a copy that is made for it."""
        for event in self.mine.script.trace.events:
            if word_of(event.name) in ("loadstatedict", "loadparamintonet"):
                into = event.receiver if word_of(event.name) == "loadstatedict" else event.arg(0, "net")
                built = getattr(into, "event", None)
                line = {
                    (difference.mine.place.file, difference.mine.place.line)
                    for difference in self.found
                    if _is_copy(difference) and difference.mine and difference.mine.place
                }
                if isinstance(built, Event) and (event.place.file, event.place.line) in line:
                    return True
        return False

    def is_given_to_optimizer(self, event: Event) -> bool:
        """Whether the parameters that a call gives are an optimizer's."""
        for other_event in self.mine.script.trace.of_role(Role.BUILD_OPTIMIZER):
            given = [*other_event.args, *other_event.kwargs.values()]
            if any(isinstance(value, Made) and value.event is event for value in ancestry(*given, most=200)):
                return True
        return False

    @cached_property
    def _training_shapes(self) -> set[int]:
        """The shapes of what is picked or loaded for training."""
        shapes = self.comparing.shapes
        own = self.mine.training_parts()
        return {shapes.of(value) for value in own}

    def is_of_training(self, difference: Difference) -> bool:
        """Whether the script takes something of training's where the benchmark takes something else."""
        if difference.mine is None or difference.bench is None or difference.mine.value is None:
            return False
        value, other_value = difference.mine.value, difference.bench.value
        if (
            isinstance(value, Const)
            or id(other_value) in self.bench.of_training
            or id(other_value) in self.bench.train_values
        ):
            return False
        return id(value) in self.mine.of_training or self.comparing.shapes.of(value) in self._training_shapes

    def _built(self, difference: Difference) -> Event | None:
        value = difference.mine.value if difference.mine is not None else None
        return getattr(value, "event", None)

    def is_built_later(self, difference: Difference) -> bool:
        """Whether the script builds a network again, after the one that is used first."""
        built = self._built(difference)
        if built is None or difference.bench is None:
            return False
        return bool(self._before(built))

    def _before(self, built: Event) -> list[Event]:
        """What was done with another network before this one was built."""
        return [
            event
            for event in self.mine.script.trace.events[: built.index]
            if event.role is Role.BUILD_OPTIMIZER or word_of(event.name) in ("loadstatedict", "loadparamintonet")
        ]

    def later_subject(self, difference: Difference) -> Subject:
        """An optimizer holds the first one's weights, or a checkpoint was loaded into it."""
        built = self._built(difference)
        done = self._before(built) if built is not None else []
        return Subject.STALE_PARAMETERS if done and done[-1].role is Role.BUILD_OPTIMIZER else Subject.LOADED_WEIGHTS


def _is_copy(difference: Difference) -> bool:
    return difference.kind is Kind.EXTRA and difference.mine is not None and difference.mine.name == "deepcopy"
