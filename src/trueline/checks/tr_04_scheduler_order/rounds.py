"""Schedules that count epochs and are stepped for every batch, or the other way round."""

from __future__ import annotations

from collections.abc import Sequence

from trueline.apitable.functions import lengths
from trueline.script.loops import TrainingLoop, is_loader
from trueline.script.trace import Event, iterated
from trueline.script.values import Const, Derived, Made, Value, ancestry, options


def length_of(schedule: Event) -> Value | None:
    """The number of steps that a schedule is made for."""
    place, names = lengths().get(schedule.name.rpartition(".")[2], (None, ()))
    return schedule.arg(place, *names) if names else None


def out_of_rounds(schedule: Event, steps: Sequence[Event], loops: Sequence[TrainingLoop]) -> Event | None:
    """A step for every batch of a schedule that counts epochs; or one an epoch where it was told of batches."""
    length = length_of(schedule)
    if length is None:
        return None
    by_batches = any(map(_is_number_of_batches, ancestry(length, most=40)))
    for loop in loops:
        if not loop.around or not any(map(is_loader, options(iterated(loop.scope.value)))):
            continue
        for step in steps:
            innermost = next(iter(reversed(step.loops())), None)
            if (
                innermost is loop.scope
                and not by_batches
                and any(_counts(scope.value, length) for scope in loop.around)
            ):
                return step
            if innermost in loop.around and by_batches and not isinstance(length, Const):
                return step
    return None


def _is_number_of_batches(value: Value) -> bool:
    return isinstance(value, Made) and value.name == "builtins.len" and any(map(is_loader, options(value.event.arg(0))))


def _counts(value: Value | None, length: Value) -> bool:
    """Whether a loop goes round as often as a schedule lasts: by one number, not two that happen to be equal."""
    for part in ancestry(value, most=20):
        if part is length and not isinstance(part, Const | Derived):
            return True
        if isinstance(part, Const) and isinstance(length, Const):
            same = (part.value, part.origin) == (length.value, length.origin)
            if same and part.origin is not None:
                return True
    return False
