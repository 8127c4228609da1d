"""Accumulated losses are not averaged: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueline.apitable.functions import names_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.followed import is_training_followed
from trueline.script.analysis.gradients import is_averaged, is_divided, touches_gradients
from trueline.script.analysis.ranks import divides_the_model
from trueline.script.loops import TrainingLoop, training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import BRANCH, Event
from trueline.script.values import Derived, Made, Value, ancestry, constant, options

# Values behind a loss that are looked at: bounds the graph, which may be cyclic.
MAX_VISITED_VALUES = 400


@check("tr.03")
def from_script(script: Script) -> Iterator[Finding]:
    """Whether a loss whose gradients are added up over several batches is divided by their number."""
    looked: list[str] = []
    for loop in training_loops(script.trace):
        backwards = [event for event in loop.of(Role.BACKWARD) if _adds_up(event, loop)]
        # A line that is reached in several ways counts by the best of them: which is gone may depend on an argument.
        averaged = {str(event.place) for event in backwards if is_averaged(event.receiver)}
        if divides_the_model(script):
            # What came from another rank goes on from here: no loss of this one's.
            backwards = [event for event in backwards if event.implied or event.arg(0, "gradient") is None]
        for backward in backwards:
            if str(backward.place) in averaged or _is_divided_later(loop):
                looked.append(str(backward.place))
            else:
                yield found("tr_03.script.not_averaged", _place(backward, loop))
    if looked:
        yield none("tr_03.script.averaged", evidence=looked)
    elif not any(_adds_up(event, loop) for loop in training_loops(script.trace) for event in loop.of(Role.BACKWARD)):
        yield (na if is_training_followed(script.trace) else undecided)("tr_03.script.no_accumulation")


def _adds_up(backward: Event, loop: TrainingLoop) -> bool:
    """Whether there are several of these to one update: the update waits for a count, or stands outside its loop."""
    steps = [event for event in loop.of(Role.STEP, Role.SCALER_STEP) if event.index > backward.index]
    if backward.implied:
        # Gradients are values: the updates that they go into.
        steps = [event for event in steps if _goes_into(backward, event)]
        if steps and all(event.conditional_within(loop.scope) and _sums_in(event) for event in steps):
            return True
    if not steps:
        return False
    inner = [scope for scope in backward.loops() if scope in backward.scopes[backward.scopes.index(loop.scope) + 1 :]]
    if inner and not steps[0].inside(inner[-1]) and not backward.implied:
        return inner[-1].name != "comprehension"
    if backward.conditional_within(loop.scope):
        return False
    return all(_counts(event, loop) for event in steps)


def _counts(step: Event, loop: TrainingLoop) -> bool:
    """Whether an update happens only where a count of batches is divisible by something, or has come to something."""
    inner = step.scopes[step.scopes.index(loop.scope) + 1 :]
    return any(scope.kind == BRANCH and scope.holds and _is_count(scope.value) for scope in inner)


def _is_count(test: Value | None) -> bool:
    if any(isinstance(value, Derived) and value.op == "Mod" for value in ancestry(test, most=40)):
        return True
    # A counter of its own that has come to a number.
    for value in options(test):
        if isinstance(value, Derived) and value.op in ("Eq", "GtE") and any(_is_counter(side) for side in value.of):
            return True
    return False


def _is_counter(value: Value) -> bool:
    return isinstance(value, Derived) and value.op == "Add" and any(constant(part) == 1 for part in value.of)


def _place(backward: Event, loop: TrainingLoop) -> Location:
    """torch adds up in backward; where gradients are values, it is the line that adds them, else that of the loss."""
    if not backward.implied:
        return backward.place
    for step in loop.of(Role.STEP):
        for place in _sums_in(step):
            return place
    losses = [event for event in loop.of(Role.LOSS) if event.index < backward.index]
    return losses[-1].place if losses else backward.place


def _sums_in(step: Event) -> list[Location]:
    """Where gradients are added to one another on the way to an update."""
    places: list[Location] = []
    for value in _up_to_gradients(step):
        if isinstance(value, Derived) and value.op == "Add" and value.place is not None and _has_gradients(value):
            places.append(value.place)
        elif isinstance(value, Made) and value.event.method in names_of(Trait.ADDS) and _has_gradients(value):
            places.append(value.event.place)
    return places


def _up_to_gradients(step: Event) -> list[Value]:
    """What an update is given, back to where the gradients were computed and no farther."""
    waiting, values = list(step.args), []
    seen: set[int] = set()
    while waiting and len(seen) < MAX_VISITED_VALUES:
        value = waiting.pop(0)
        if id(value) not in seen:
            seen.add(id(value))
            values.append(value)
            if not (isinstance(value, Made) and value.event.role is Role.BACKWARD):
                waiting.extend(value.parts())
    return values


def _goes_into(backward: Event, step: Event) -> bool:
    if not step.args:
        return True
    kept = any(
        value.event.method in ("value", "assign_value") for value in ancestry(*step.args) if isinstance(value, Made)
    )
    return kept or any(isinstance(value, Made) and value.event is backward for value in ancestry(*step.args))


def _has_gradients(value: Value) -> bool:
    return any(isinstance(part, Made) and part.event.role is Role.BACKWARD for part in ancestry(value, most=100))


def _is_divided_later(loop: TrainingLoop) -> bool:
    if touches_gradients(iter(loop.events)):
        return True
    given: Sequence[Value] = [value for step in loop.of(Role.STEP) for value in step.args]
    return any(is_divided(value, until=(Role.BACKWARD,)) for value in given)
