"""The mode of the network does not fit what is done with it: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.followed import acts_by_mode
from trueline.script.analysis.forwards import (
    Uses,
    calls_of_networks,
    forward_around,
    is_differentiated,
    is_repeated,
    is_trained,
    is_uncalled,
    loops_without_backward,
    values_trained,
)
from trueline.script.analysis.gradients import is_without_gradient
from trueline.script.analysis.layers import is_single
from trueline.script.analysis.modes import Found, Mode, Setting, acting_layers, modes_at, settings, starts_in
from trueline.script.analysis.networks import networks_given, optimizers_of, parts_of
from trueline.script.factories import is_pretrained
from trueline.script.loops import TrainingLoop, training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import BRANCH, CALL, Event, Trace
from trueline.script.values import Derived, Made, Unknown, Value, ancestry

# What is done with a network's answer where it is looked at, and not with samples that a network draws.
_READING: Final = functions_of(Trait.PLACES, Trait.EQUALS, Trait.SIGMOID, Trait.SOFTMAX) | {"update", "topk"}


@check("api.02")
def from_script(script: Script) -> Iterator[Finding]:
    """The mode that networks with dropout or BatchNorm are in where they are trained and where they are evaluated."""
    trace = script.trace
    by_place: dict[Location, Finding] = {}
    fitting: list[str] = []
    given = settings(trace)
    for place, finding in (*_trainings(trace, given), *_evaluations(trace, given)):
        if finding is None:
            fitting.append(str(place))
        elif place not in by_place:
            by_place[place] = finding
            yield finding
    if fitting:
        yield none("api_02.script.fits", evidence=sorted(set(fitting)))
    elif not by_place:
        yield (na if acts_by_mode(trace) is False else undecided)("api_02.script.nothing_acts")


_Told = Iterator[tuple[Location, Finding | None]]


def _trainings(trace: Trace, given: Sequence[Setting]) -> _Told:
    for loop in training_loops(trace):
        if not loop.is_certain:
            continue
        trained = [value for built in optimizers_of(loop) for value in networks_given(built)]
        held = {id(part) for value in trained for part in parts_of(value)}
        for event in loop.of(Role.FORWARD):
            if forward_around(event) is not None or is_without_gradient(event):
                continue
            layers = [value for value in acting_layers(event.receiver, trace) if id(value) in held]
            if layers:
                yield loop.scope.place, _of_training(loop, event, layers, trained, given)
                break


def _of_training(
    loop: TrainingLoop, event: Event, layers: Sequence[Value], trained: Sequence[Value], given: Sequence[Setting]
) -> Finding | None:
    where = loop.scope.place
    wrong = [_wrong(value, event, given, Mode.EVALUATION) for value in layers]
    if not all(wrong):
        return None
    first = wrong[0]
    setting = first.setting if first is not None else None
    if setting is None or first is None:
        is_read = isinstance(event.receiver, Made) and is_pretrained(event.receiver.name)
        return found(f"api_02.script.{'read_and_never_set' if is_read else 'never_set'}", where)
    if setting.parts is not None and not all(id(value) in setting.parts for value in trained):
        # A part of the network that is kept in evaluation mode on purpose.
        return None
    place = setting.event.place
    if place.file == where.file and not setting.event.implied and setting.event.inside(loop.scope):
        # Set in the middle of an epoch and not set back; after an epoch the next one is to begin with its own mode.
        if first.certain or _comes_again(setting.event, loop):
            return found("api_02.script.left_in_evaluation", place, line=where.line)
        return suspect("api_02.script.may_be_left_in_evaluation", place, line=where.line)
    if first.certain or _comes_again(setting.event, loop):
        return found("api_02.script.trained_in_evaluation", where, line=place.line)
    return suspect("api_02.script.may_be_trained_in_evaluation", where, line=place.line)


def _wrong(layer: Value, event: Event, given: Sequence[Setting], mode: Mode) -> Found | None:
    """The time at which a layer is in a mode."""
    for set_mode in modes_at(layer, event, given, starts_in(event)):
        if set_mode.mode is mode:
            return set_mode
    return None


def _comes_again(event: Event, loop: TrainingLoop) -> bool:
    """Whether what is done under a condition is done every so many rounds, and not at the end."""
    tests = [scope.value for scope in event.scopes if scope.kind == BRANCH and scope.holds]
    within = any(scope in event.scopes for scope in (loop.scope, *loop.around))
    return within and any(
        isinstance(value, Derived) and value.op == "Mod" for test in tests for value in ancestry(test, most=40)
    )


def _evaluations(trace: Trace, given: Sequence[Setting]) -> _Told:
    trained, uses = values_trained(trace), Uses(trace)
    for event in calls_of_networks(trace):
        if is_differentiated(event) or is_uncalled(event) or is_trained(event, trained):
            continue
        layers = acting_layers(event.receiver, trace)
        if not layers:
            continue
        loops = loops_without_backward(event, trace)
        place = loops[0].place if loops else event.place
        wrong = _as_a_whole([_wrong(value, event, given, Mode.TRAINING) for value in layers], layers, given)
        if not wrong:
            yield place, None
            continue
        if not _has_followers(event, uses) or not _is_evaluation(event, trace):
            continue
        first = wrong[0]
        if first.setting is not None and is_single(first.setting.event.receiver):
            # One layer that was set by itself is the matter of tr.09.
            continue
        if not first.certain or is_repeated(event, trace) or not _is_measured(event, trace, uses):
            yield place, suspect("api_02.script.may_be_evaluated_in_training", place)
        else:
            yield place, _of_evaluation(place, event, first.setting, given, trace)


def _as_a_whole(found_: Sequence[Found | None], layers: Sequence[Value], given: Sequence[Setting]) -> list[Found]:
    """The layers in training mode, where all are, or all but those of a part that is kept in evaluation mode."""
    wrong = [mode for mode in found_ if mode is not None]
    rest = [layer for layer, mode in zip(layers, found_, strict=True) if mode is None]
    if not rest or not wrong:
        return wrong
    acting = [layer for layer, mode in zip(layers, found_, strict=True) if mode is not None]
    parts = [
        mode
        for mode in given
        if mode.parts is not None and mode.mode is Mode.EVALUATION and not is_single(mode.event.receiver)
    ]
    kept = all(
        any(mode.reaches(layer) and not any(mode.reaches(value) for value in acting) for mode in parts)
        for layer in rest
    )
    whole = all(mode.setting is None or all(mode.setting.reaches(layer) for layer in layers) for mode in wrong)
    return wrong if kept and whole else []


def _of_evaluation(
    place: Location, event: Event, setting: Setting | None, given: Sequence[Setting], trace: Trace
) -> Finding:
    late = next((other_setting for other_setting in given if _comes_too_late(other_setting, event, trace)), None)
    if late is not None:
        return found("api_02.script.set_too_late", late.event.place, line=place.line)
    if setting is None:
        return found("api_02.script.never_set_to_evaluation", place)
    at = setting.event
    if at.place.file == place.file and _is_for(at, event, trace):
        return found("api_02.script.set_to_training", at.place, line=place.line)
    return found("api_02.script.evaluated_in_training", place, line=at.place.line)


def _comes_too_late(setting: Setting, event: Event, trace: Trace) -> bool:
    """Whether the mode is set in the function of an evaluation, and only behind it."""
    late = setting.event
    if setting.mode is not Mode.EVALUATION or late.index < event.index or late.implied:
        return False
    calls = [scope for scope in event.scopes if scope.kind == CALL]
    if [scope for scope in late.scopes if scope.kind == CALL] != calls or event.loops()[
        : len(late.loops())
    ] != late.loops():
        return False
    return not any(event.index < other_event.index < late.index for other_event in trace.of_role(Role.BACKWARD))


def _is_for(setting: Event, event: Event, trace: Trace) -> bool:
    """Whether a mode is set for this evaluation: after training, and nothing is trained in between."""
    backward = [index.index for index in trace.of_role(Role.BACKWARD)]
    between = any(setting.index < index < event.index for index in backward)
    return not setting.implied and not between and any(index < setting.index for index in backward)


def _has_followers(event: Event, uses: Uses) -> bool:
    return bool(uses.of(event)) or isinstance(event.result, Unknown)


def _is_evaluation(event: Event, trace: Trace) -> bool:
    """Whether it is more than a look at what goes in for training: other data, or after it."""
    if loops_without_backward(event, trace):
        return True
    fed = {id(value) for value in ancestry(*event.args, most=300)}
    for loop in training_loops(trace):
        if event.inside(loop.scope):
            loader = loop.loader
            calls = [
                other_event
                for other_event in calls_of_networks(trace)
                if other_event.inside(loop.scope) and other_event is not event
            ]
            inputs = {id(value) for call in calls for value in call.args}
            if (loader is not None and id(loader) in fed) or inputs & {id(value) for value in event.args}:
                return False
    return is_without_gradient(event) or any(
        event.index > loop.events[-1].index or any(event.inside(scope) for scope in loop.around)
        for loop in training_loops(trace)
    )


def _is_measured(event: Event, trace: Trace, uses: Uses) -> bool:
    """Whether a result goes into a loss, a choice or a comparison; in a loop over data it does, somehow."""
    if loops_without_backward(event, trace):
        return True
    return any(later.role is Role.LOSS or later.method in _READING for later in uses.of(event))
