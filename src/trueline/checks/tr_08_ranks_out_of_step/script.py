"""Ranks train networks that are not the same: what a script says of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Final

from trueline.apitable.functions import names_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.passes import training_data
from trueline.script.analysis.randomness import SEEDS
from trueline.script.analysis.ranks import (
    begins_group,
    depends_on_rank,
    divides_the_model,
    exchanges,
    is_looked_after,
    is_rank,
    is_wrapped,
    knows_rank,
)
from trueline.script.loops import TrainingLoop, training_loops
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import BRANCH, UNCALLED, Event, Trace
from trueline.script.values import Derived, Made, Value, ancestry, constant, options
from trueline.script.walking import walk

# What gives all ranks the same weights before they train.
_SHARING: Final = names_of(Trait.SHARES_WEIGHTS)
_MEETING: Final = names_of(Trait.COLLECTIVE, Trait.MEETS)


@check("tr.08")
def from_script(script: Script) -> Iterator[Finding]:
    """Seeds, gradients and steps of a script that runs as several processes."""
    trace = script.trace
    loops = [loop for loop in training_loops(trace) if loop.is_certain]
    grouped = begins_group(trace) is not None
    if not loops or not (grouped or is_wrapped(trace) or knows_rank(trace) or _divides(trace)):
        yield (na if loops else undecided)("tr_08.script.one_process")
        return
    if is_looked_after(trace):
        yield undecided("tr_08.script.looked_after")
        return
    if divides_the_model(script):
        yield undecided("tr_08.script.parts_of_a_model")
        return
    reported: set[str] = set()
    apart = (*_seeds(trace, loops), *_rates(trace), *_alone(trace, loops))
    for said, place in (*apart, *_by_rank(trace), *_leaves(script, loops)):
        if str(place) not in reported:
            reported.add(str(place))
            yield found(f"tr_08.script.{said}", place)
    if not reported:
        yield none("tr_08.script.together", evidence=[str(loop.scope.place) for loop in loops])


def _divides(trace: Trace) -> bool:
    return any(depends_on_rank(value) for value in training_data(trace))


def _is_mindspore(trace: Trace) -> bool:
    return any(event.name.startswith("mindspore.") for event in trace.events)


def _seeds(trace: Trace, loops: list[TrainingLoop]) -> Iterator[tuple[str, Location]]:
    """Weights that are drawn by another seed on each rank, and that nothing makes the same."""
    if is_wrapped(trace) or any(event.method in _SHARING for event in _before(trace, loops)) or _broadcasts(trace):
        return
    if _is_mindspore(trace) and begins_group(trace) is None:
        return
    networks = [event.index for event in trace.events if event.result is not None and is_network(event.result)]
    for event in trace.events:
        if event.name not in SEEDS or event.name.startswith(("numpy.", "random.")):
            continue
        if event.name.startswith("mindspore.") and not any(index > event.index for index in networks):
            continue
        if any(depends_on_rank(value) for value in (*event.args, *event.kwargs.values())):
            yield "seed_by_rank", event.place
            return


def _before(trace: Trace, loops: list[TrainingLoop]) -> list[Event]:
    first = min(loop.events[0].index for loop in loops)
    return trace.events[:first]


def _broadcasts(trace: Trace) -> bool:
    return any(constant(event.arg(None, "parameter_broadcast")) is True for event in trace.events)


def _rates(trace: Trace) -> Iterator[tuple[str, Location]]:
    for event in trace.of_role(Role.BUILD_OPTIMIZER):
        rate = event.arg(1, "lr", "learning_rate")
        if _is_made_from_rank(rate):
            yield "rate_by_rank", event.place


@walk(False)
def _is_made_from_rank(value: Value | None) -> bool:
    """A number that is computed from the rank, not a property of something that differs between ranks."""
    for other_value in options(value):
        if is_rank(other_value):
            return True
        if isinstance(other_value, Derived) and any(_is_made_from_rank(part) for part in other_value.of):
            return True
        if isinstance(other_value, Made) and other_value.name.startswith("builtins."):
            return any(_is_made_from_rank(part) for part in other_value.event.args)
    return False


def _alone(trace: Trace, loops: list[TrainingLoop]) -> Iterator[tuple[str, Location]]:
    """Updates from gradients that no other rank knows of."""
    if is_wrapped(trace) or any(True for _ in _seeds(trace, loops)) or any(True for _ in _rates(trace)):
        return
    grouped = begins_group(trace) is not None
    for loop in loops:
        if exchanges(loop.events):
            continue
        steps = loop.of(Role.STEP, Role.SCALER_STEP)
        if not steps:
            continue
        if any(event.implied for event in steps):
            # Model and TrainOneStepCell exchange gradients by themselves.
            continue
        if not grouped and not _divides(trace):
            continue
        reducing = any(event.name.endswith("DistributedGradReducer") for event in trace.events)
        yield "not_reduced" if reducing else "not_wrapped", steps[-1].place


def _by_rank(trace: Trace) -> Iterator[tuple[str, Location]]:
    """Steps, and meetings of all ranks, that only some ranks come to."""
    for event in trace.events:
        if event.role not in (Role.BACKWARD, Role.STEP, Role.SCALER_STEP) and event.method not in _MEETING:
            continue
        if event.method in _MEETING and not event.name.startswith(("torch.distributed.", "mindspore.")):
            continue
        if any(scope.kind == UNCALLED for scope in event.scopes) or event.implied:
            continue
        # The condition is what keeps the others away, wherever it leads to.
        for scope in event.scopes:
            if scope.kind == BRANCH and depends_on_rank(scope.value):
                yield "only_some", scope.place
                break


def _leaves(script: Script, loops: list[TrainingLoop]) -> Iterator[tuple[str, Location]]:
    """Loops in which ranks meet and that some of them leave, or cut short, by a condition on the rank."""
    asked = {
        (value.place.file, value.place.line)
        for test in script.trace.tests
        if _is_made_from_rank(test)
        for value in ancestry(test, most=20)
        if isinstance(value, Derived) and value.place is not None
    }
    around = {(scope.place.file, scope.place.line) for loop in loops for scope in (loop.scope, *loop.around)}
    for source in script.files if asked else ():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.For | ast.While) and (source.shown, node.lineno) in around:
                for condition in _ways_out(node.body):
                    if (source.shown, condition.test.lineno) in asked:
                        yield "some_leave", Location.of(source.shown, condition)


def _ways_out(body: Sequence[ast.stmt]) -> Iterator[ast.If]:
    """Conditions in a loop's own body, not in that of a loop in it, that end with leaving it."""
    for node in body:
        if isinstance(node, ast.If):
            if any(isinstance(child, ast.Break | ast.Return) for child in node.body):
                yield node
            yield from _ways_out([*node.body, *node.orelse])
        elif isinstance(node, ast.With | ast.Try):
            yield from _ways_out(node.body)
