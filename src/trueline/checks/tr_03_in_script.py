"""Accumulated losses are not averaged: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueline.checks.check import check, found, na, none
from trueline.checks.of_script.gradients import is_divided, touches_gradients
from trueline.model.finding import Finding
from trueline.script.loops import TrainingLoop, training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import BRANCH, Event
from trueline.script.values import Derived, Value, ancestry


@check("tr.03")
def from_script(script: Script) -> Iterator[Finding]:
    """Whether a loss whose gradients are added up over several batches is divided by their number."""
    looked: list[str] = []
    for loop in training_loops(script.trace):
        backwards = [one for one in loop.of(Role.BACKWARD) if _adds_up(one, loop)]
        for backward in backwards:
            if is_divided(backward.receiver) or _is_divided_later(loop):
                looked.append(str(backward.place))
            else:
                yield found("tr_03_in_script.not_averaged", backward.place.where())
    if looked:
        yield none("tr_03_in_script.averaged", evidence=looked)
    elif not any(_adds_up(one, loop) for loop in training_loops(script.trace) for one in loop.of(Role.BACKWARD)):
        yield na("tr_03_in_script.no_accumulation")


def _adds_up(backward: Event, loop: TrainingLoop) -> bool:
    """Whether there are several of these to one update: the update waits for a count, or stands outside its loop."""
    steps = [one for one in loop.of(Role.STEP, Role.SCALER_STEP) if one.index > backward.index]
    if not steps:
        return False
    inner = [one for one in backward.loops() if one in backward.scopes[backward.scopes.index(loop.scope) + 1 :]]
    if inner and not steps[0].inside(inner[-1]) and not backward.implied:
        return inner[-1].name != "comprehension"
    if backward.conditional_within(loop.scope):
        return False
    return all(_counts(one, loop) for one in steps)


def _counts(step: Event, loop: TrainingLoop) -> bool:
    """Whether an update happens only where a count of batches is divisible by something, or has come to something."""
    inner = step.scopes[step.scopes.index(loop.scope) + 1 :]
    return any(one.kind == BRANCH and one.holds and _is_count(one.value) for one in inner)


def _is_count(test: Value | None) -> bool:
    return any(isinstance(one, Derived) and one.op == "Mod" for one in ancestry(test, most=40))


def _is_divided_later(loop: TrainingLoop) -> bool:
    if touches_gradients(iter(loop.events)):
        return True
    given: Sequence[Value] = [one for step in loop.of(Role.STEP) for one in step.args]
    return any(is_divided(one, until=(Role.BACKWARD,)) for one in given)
