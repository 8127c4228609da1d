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
    told: dict[Location, Finding] = {}
    fitting: list[str] = []
    given = settings(trace)
    for place, finding in (*_trainings(trace, given), *_evaluations(trace, given)):
        if finding is None:
            fitting.append(str(place))
        elif place not in told:
            told[place] = finding
            yield finding
    if fitting:
        yield none("api_02.script.fits", evidence=sorted(set(fitting)))
    elif not told:
        yield (na if acts_by_mode(trace) is False else undecided)("api_02.script.nothing_acts")


_Told = Iterator[tuple[Location, Finding | None]]


def _trainings(trace: Trace, given: Sequence[Setting]) -> _Told:
    for loop in training_loops(trace):
        if not loop.is_certain:
            continue
        trained = [one for built in optimizers_of(loop) for one in networks_given(built)]
        held = {id(part) for one in trained for part in parts_of(one)}
        for event in loop.of(Role.FORWARD):
            if forward_around(event) is not None or is_without_gradient(event):
                continue
            layers = [one for one in acting_layers(event.receiver, trace) if id(one) in held]
            if layers:
                yield loop.scope.place, _of_training(loop, event, layers, trained, given)
                break


def _of_training(
    loop: TrainingLoop, event: Event, layers: Sequence[Value], trained: Sequence[Value], given: Sequence[Setting]
) -> Finding | None:
    where = loop.scope.place
    wrong = [_wrong(one, event, given, Mode.EVALUATION) for one in layers]
    if not all(wrong):
        return None
    first = wrong[0]
    setting = first.setting if first is not None else None
    if setting is None or first is None:
        is_read = isinstance(event.receiver, Made) and is_pretrained(event.receiver.name)
        return found(f"api_02.script.{'read_and_never_set' if is_read else 'never_set'}", where)
    if setting.parts is not None and not all(id(one) in setting.parts for one in trained):
        # A part of the network that is kept in evaluation mode on purpose.
        return None
    line = setting.event.place.line
    if first.certain or _comes_again(setting.event, loop):
        return found("api_02.script.trained_in_evaluation", where, line=line)
    return suspect("api_02.script.may_be_trained_in_evaluation", where, line=line)


def _wrong(layer: Value, event: Event, given: Sequence[Setting], mode: Mode) -> Found | None:
    """The time at which a layer is in a mode."""
    for one in modes_at(layer, event, given, starts_in(event)):
        if one.mode is mode:
            return one
    return None


def _comes_again(event: Event, loop: TrainingLoop) -> bool:
    """Whether what is done under a condition is done every so many rounds, and not at the end."""
    tests = [one.value for one in event.scopes if one.kind == BRANCH and one.holds]
    within = any(one in event.scopes for one in (loop.scope, *loop.around))
    return within and any(
        isinstance(one, Derived) and one.op == "Mod" for test in tests for one in ancestry(test, most=40)
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
        wrong = _as_a_whole([_wrong(one, event, given, Mode.TRAINING) for one in layers], layers, given)
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
    wrong = [one for one in found_ if one is not None]
    rest = [layer for layer, one in zip(layers, found_, strict=True) if one is None]
    if not rest or not wrong:
        return wrong
    acting = [layer for layer, one in zip(layers, found_, strict=True) if one is not None]
    parts = [
        one
        for one in given
        if one.parts is not None and one.mode is Mode.EVALUATION and not is_single(one.event.receiver)
    ]
    kept = all(
        any(one.reaches(layer) and not any(one.reaches(other) for other in acting) for one in parts) for layer in rest
    )
    whole = all(one.setting is None or all(one.setting.reaches(layer) for layer in layers) for one in wrong)
    return wrong if kept and whole else []


def _of_evaluation(
    place: Location, event: Event, setting: Setting | None, given: Sequence[Setting], trace: Trace
) -> Finding:
    late = next((one for one in given if _comes_too_late(one, event, trace)), None)
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
    calls = [one for one in event.scopes if one.kind == CALL]
    if [one for one in late.scopes if one.kind == CALL] != calls or event.loops()[: len(late.loops())] != late.loops():
        return False
    return not any(event.index < one.index < late.index for one in trace.of_role(Role.BACKWARD))


def _is_for(setting: Event, event: Event, trace: Trace) -> bool:
    """Whether a mode is set for this evaluation: after training, and nothing is trained in between."""
    backward = [one.index for one in trace.of_role(Role.BACKWARD)]
    between = any(setting.index < one < event.index for one in backward)
    return not setting.implied and not between and any(one < setting.index for one in backward)


def _has_followers(event: Event, uses: Uses) -> bool:
    return bool(uses.of(event)) or isinstance(event.result, Unknown)


def _is_evaluation(event: Event, trace: Trace) -> bool:
    """Whether it is more than a look at what goes in for training: other data, or after it."""
    if loops_without_backward(event, trace):
        return True
    fed = {id(one) for one in ancestry(*event.args, most=300)}
    for loop in training_loops(trace):
        if event.inside(loop.scope):
            loader = loop.loader
            calls = [one for one in calls_of_networks(trace) if one.inside(loop.scope) and one is not event]
            inputs = {id(one) for call in calls for one in call.args}
            if (loader is not None and id(loader) in fed) or inputs & {id(one) for one in event.args}:
                return False
    return is_without_gradient(event) or any(
        event.index > loop.events[-1].index or any(event.inside(one) for one in loop.around)
        for loop in training_loops(trace)
    )


def _is_measured(event: Event, trace: Trace, uses: Uses) -> bool:
    """Whether a result goes into a loss, a choice or a comparison; in a loop over data it does, somehow."""
    if loops_without_backward(event, trace):
        return True
    return any(later.role is Role.LOSS or later.method in _READING for later in uses.of(event))
