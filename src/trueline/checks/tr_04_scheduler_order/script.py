"""The schedule of learning rates is never stepped, or before the optimizer: what a script says of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final

from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.checks.tr_04_scheduler_order.rounds import out_of_rounds
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.followed import is_training_followed
from trueline.script.loops import training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import LOOP, UNCALLED, Event, Trace
from trueline.script.values import (
    Const,
    Function,
    Instance,
    Item,
    Made,
    Seq,
    Table,
    Value,
    ancestry,
    constant,
    options,
)

_STEPS: Final = re.compile(r"steps?$|^total$|^decay$|iters?$|iterations$")
_RATE: Final = re.compile(r"(^|_)(lr|lrs|rate|rates|sched|schedule|learning_rates?)($|_|\d)")


@check("tr.04")
def from_script(script: Script) -> Iterator[Finding]:
    """Schedules that are built, and where they are stepped."""
    trace = script.trace
    lists = [*_of_values(trace), *_of_names(script), *_in_epochs(trace)]
    yield from lists
    built = [
        event for event in trace.of_role(Role.BUILD_SCHEDULER) if not any(at.kind == UNCALLED for at in event.scopes)
    ]
    if not built:
        if not lists:
            yield (na if is_training_followed(trace) else undecided)("tr_04.script.no_schedule")
        return
    stepped: list[str] = []
    reported: set[str] = set()
    steps = list(trace.of_role(Role.SCHEDULER_STEP))
    for event in built:
        own = [step for step in steps if event.result is not None and _is_of(step.receiver, event.result)]
        if not own:
            if str(event.place) not in reported and not _is_given_away(event, trace):
                reported.add(str(event.place))
                kind = event.name.rpartition(".")[2]
                yield found("tr_04.script.never_stepped", event.place, kind=kind)
            continue
        early = _too_early(own, trace)
        if early is not None:
            yield found("tr_04.script.before_optimizer", early.place)
        elif (wrong := out_of_rounds(event, own, training_loops(trace))) is not None:
            kind = event.name.rpartition(".")[2]
            yield found("tr_04.script.out_of_rounds", wrong.place, kind=kind, built=event.place.line)
        else:
            stepped.append(str(own[0].place))
    if stepped:
        yield none("tr_04.script.stepped", evidence=stepped)
    elif not reported:
        yield undecided("tr_04.script.given_away")


def _of_values(trace: Trace) -> Iterator[Finding]:
    """MindSpore's schedules are values that an optimizer is built with."""
    optimizers = list(trace.of_role(Role.BUILD_OPTIMIZER))
    given = [event.arg(1, "learning_rate", "lr") for event in optimizers]
    used = {id(part) for value in given for part in ancestry(value)}
    for value in _schedules(trace):
        place = value.place if isinstance(value, Instance) else value.event.place
        if optimizers and id(value) not in used:
            yield found("tr_04.script.not_used", place)
    for event, rate in zip(optimizers, given, strict=True):
        if isinstance(rate, Item) and constant(rate.index) == 0 and _is_series(rate.of):
            yield found("tr_04.script.first_value", event.place)
    unused = [event for event in trace.events if _is_unused_schedule(event)]
    if unused and optimizers and not any(map(_is_schedule, (part for value in given for part in ancestry(value)))):
        yield found("tr_04.script.class_not_used", optimizers[0].place, name=_class_name(unused[0]))


def _in_epochs(trace: Trace) -> Iterator[Finding]:
    """Schedules of MindSpore count updates: the number of epochs, where they ask for that of steps, is too few."""
    epochs = list(_numbers_of_epochs(trace))
    for schedule in _schedules(trace):
        event = schedule.event
        if event is None:
            continue
        names = _parameter_names(schedule)
        given = {**dict(zip(names, event.args, strict=False)), **event.kwargs}
        if any("epoch" in name for name in given):
            # It is told how many steps an epoch has.
            continue
        for name, value in given.items():
            if _STEPS.search(name) and any(_is_same_number(value, constant) for constant in epochs):
                place = schedule.place if isinstance(schedule, Instance) else event.place
                yield found("tr_04.script.in_epochs", place, name=name, epochs=constant(value))
                break


def _numbers_of_epochs(trace: Trace) -> Iterator[Const]:
    """How often the loops around those over batches are gone through, as it was written down."""
    for loop in training_loops(trace):
        for scope in loop.around:
            for value in ancestry(scope.value, most=20):
                if isinstance(value, Const) and isinstance(value.value, int):
                    yield value
    for event in trace.events:
        number = event.arg(None, "num_epochs")
        if event.name.startswith("mindspore.train.Model.") and event.method in ("train", "fit"):
            number = event.arg(0, "epoch")
        if isinstance(number, Const):
            yield number


def _is_same_number(value: Value, constant: Const) -> bool:
    """One number, not two that happen to be equal."""
    return (
        isinstance(value, Const)
        and value.origin is not None
        and (value.value, value.origin)
        == (
            constant.value,
            constant.origin,
        )
    )


def _parameter_names(schedule: Made | Instance) -> Sequence[str]:
    if isinstance(schedule, Instance):
        built = next(
            (cls.attributes["__init__"] for cls in schedule.cls.lineage() if "__init__" in cls.attributes), None
        )
        return [node.arg for node in built.node.args.args][1:] if isinstance(built, Function) else ()
    last = schedule.name.rpartition(".")[2]
    return {"WarmUpLR": ("learning_rate", "warmup_steps")}.get(last, ("first", "second", "decay_steps"))


def _of_names(script: Script) -> Iterator[Finding]:
    """Learning rates that are computed in a list and never read again."""
    for source in script.files:
        for scope in ast.walk(source.tree):
            if isinstance(scope, ast.FunctionDef | ast.Module):
                for node in _unread(scope):
                    place = Location.of(source.shown, node)
                    yield found("tr_04.script.not_used", place)


def _unread(scope: ast.FunctionDef | ast.Module) -> Iterator[ast.AST]:
    read = {node.id for node in ast.walk(scope) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    for node in scope.body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.ListComp | ast.List):
            continue
        target = node.targets[0]
        named = isinstance(target, ast.Name) and _RATE.search(target.id) is not None
        if named and isinstance(target, ast.Name) and target.id not in read and isinstance(scope, ast.FunctionDef):
            yield node


def _is_series(value: Value) -> bool:
    return (isinstance(value, Seq) and value.open) or any(map(_is_schedule, ancestry(value)))


def _is_unused_schedule(event: Event) -> bool:
    """A schedule of the project's own that only reading it by itself has made."""
    alone = any(scope.kind == UNCALLED for scope in event.scopes)
    return alone and event.method == "__new__" and isinstance(event.result, Instance) and _is_schedule(event.result)


def _class_name(event: Event) -> str:
    return event.result.cls.name if isinstance(event.result, Instance) else ""


def _schedules(trace: Trace) -> Iterator[Made | Instance]:
    for event in trace.events:
        if any(scope.kind == UNCALLED for scope in event.scopes):
            continue
        if isinstance(event.result, Made | Instance) and _is_schedule(event.result):
            yield event.result


def _is_schedule(value: Value) -> bool:
    if isinstance(value, Instance):
        return any(base.endswith(".LearningRateSchedule") for base in value.cls.library_bases())
    if not isinstance(value, Made) or not value.name.startswith("mindspore.nn."):
        return False
    last = value.name.removeprefix("mindspore.nn.")
    return last.endswith(("_lr", "DecayLR", "WarmUpLR")) and "." not in last


def _is_of(receiver: Value | None, schedule: Value) -> bool:
    return any(value is schedule for value in options(receiver))


def _is_given_away(built: Event, trace: Trace) -> bool:
    """Part of another schedule, or handed to something that may step it: a trainer, a function, a list."""
    for event in trace.events:
        if event is built:
            continue
        for value in (*event.args, *event.kwargs.values()):
            held = value.parts() if isinstance(value, Seq | Table) else options(value)
            if any(value is built.result for value in held):
                return True
    if not any(event.name.startswith("lightning.") for event in trace.events):
        return False
    # Returned by a function that a trainer calls.
    returned = [value for values in trace.returned.values() for value in values]
    return any(part is built.result for value in returned for part in ancestry(value, most=50))


def _too_early(own: Sequence[Event], trace: Trace) -> Event | None:
    """A step of the schedule to which every update of its round comes later."""
    for loop in training_loops(trace):
        updates = loop.of(Role.STEP, Role.SCALER_STEP)
        if not updates:
            continue
        first, last = updates[0], updates[-1]
        for around in (loop.scope, *reversed(loop.around)):
            here = [event for event in own if _innermost(event) is around]
            if here and all(event.index < first.index for event in here) and last.inside(around):
                return here[0]
    return None


def _innermost(event: Event) -> object:
    loops = [scope for scope in event.scopes if scope.kind == LOOP]
    return loops[-1] if loops else None
