"""Gradients that a script adds up itself, as it must where a framework hands them out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import names_of
from trueline.apitable.traits import Trait
from trueline.model.location import Location
from trueline.script.loops import TrainingLoop
from trueline.script.roles import Role
from trueline.script.trace import Event
from trueline.script.values import Derived, Made, Unknown, Value, ancestry

_ADDING: Final = names_of(Trait.ASSIGNS_SUM)
_CLEARING: Final = names_of(Trait.ASSIGNS, Trait.WRITES, Trait.FILLS_IN_PLACE)
_CARRIED: Final = "changes in the loop"


def never_ending_sums(loop: TrainingLoop) -> Iterator[tuple[Location, str]]:
    """Sums of gradients that nothing sets back to zero, or too early; with the message that tells it."""
    adding = [event for event in loop.events if _adds(event)]
    steps = loop.of(Role.STEP)
    if adding and steps:
        clearing = [event for event in loop.events if _clears(event)]
        if not clearing:
            yield steps[-1].place, "tr_01.script.sum_never_cleared"
        elif all(adding[-1].index < event.index < steps[-1].index for event in clearing):
            yield steps[-1].place, "tr_01.script.sum_cleared_early"
        return
    for step in steps:
        if step.conditional_within(loop.scope):
            continue
        place = next((place for place in map(_carried_sum, ancestry(*step.args, most=400)) if place is not None), None)
        if place is not None:
            yield place, "tr_01.script.sum_never_cleared"
            return


def _adds(event: Event) -> bool:
    if event.name.removesuffix(".__call__").rpartition(".")[2] not in _ADDING:
        return False
    return any(_is_gradient(part) for value in event.args for part in ancestry(value, most=60))


def _clears(event: Event) -> bool:
    if event.name.removesuffix(".__call__").rpartition(".")[2] not in _CLEARING:
        return False
    names = {part.name for value in event.args for part in ancestry(value, most=20) if isinstance(part, Made)}
    return event.method == "zero_" or any("zeros" in name for name in names)


def _carried_sum(value: Value) -> Location | None:
    """The place of a sum of gradients and of what the loop has carried on so far."""
    if not isinstance(value, Derived) or value.op != "Add" or value.place is None:
        return None
    sides = [list(ancestry(part, most=60)) for part in value.of]
    for at in (0, 1):
        carried = any(isinstance(part, Unknown) and part.why == _CARRIED for part in sides[at])
        if carried and any(_is_gradient(part) for part in sides[1 - at]):
            return value.place
    return None


def _is_gradient(value: Value) -> bool:
    return isinstance(value, Made) and value.event.role is Role.BACKWARD
