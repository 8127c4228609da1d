"""Gradients of one update go into the next: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.tr_01_zero_grad_missing.gradient_sums import never_ending_sums
from trueline.model.finding import Finding
from trueline.script.analysis.followed import is_training_followed
from trueline.script.analysis.gradients import cleared_at
from trueline.script.analysis.networks import networks_given, parts_of
from trueline.script.loops import TrainingLoop, training_loops
from trueline.script.roles import Role, is_network, is_optimizer
from trueline.script.script import Script
from trueline.script.trace import Event
from trueline.script.values import Made, Value, ancestry, options


@check("tr.01")
def from_script(script: Script) -> Iterator[Finding]:
    """Whether a training loop of torch clears the gradients of each of its optimizers."""
    every = training_loops(script.trace)
    loops = [one for one in every if _accumulates(one)]
    sums = [one for loop in every if loop not in loops for one in never_ending_sums(loop)]
    for place, said in sums:
        yield found(said, place)
    if not loops:
        if not sums:
            handed_out = is_training_followed(script.trace) and all(
                backward.implied for loop in every for backward in loop.of(Role.BACKWARD)
            )
            yield (na if handed_out else undecided)("tr_01.script.nothing_accumulates")
        return
    cleared: list[str] = []
    reported: set[tuple[str, int]] = set()
    for loop in loops:
        clearings = list(cleared_at(iter(loop.events)))
        for step in loop.of(Role.STEP, Role.SCALER_STEP):
            optimizer = _optimizer_of(step)
            early = _too_early(step, loop, clearings)
            if early is not None and (early.place.file, early.place.line) not in reported:
                reported.add((early.place.file, early.place.line))
                yield found("tr_01.script.too_early", early.place, step=step.place.line)
                continue
            if _is_covered(optimizer, clearings):
                cleared.append(str(step.place))
                continue
            backward = _before(step, loop.of(Role.BACKWARD))
            place = backward.place if backward is not None else step.place
            if (place.file, place.line) in reported:
                continue
            reported.add((place.file, place.line))
            if _may_clear(loop, optimizer):
                yield suspect("tr_01.script.may_be_elsewhere", place)
            else:
                yield found("tr_01.script.never_cleared", place, step=step.place.line)
    if cleared:
        yield none("tr_01.script.cleared", evidence=cleared)


def _optimizer_of(step: Event) -> Value | None:
    return step.arg(0, "optimizer") if step.role is Role.SCALER_STEP else step.receiver


def _accumulates(loop: TrainingLoop) -> bool:
    """Only torch keeps gradients from one backward to the next."""
    return any(not event.implied for event in loop.of(Role.BACKWARD)) and bool(loop.of(Role.STEP, Role.SCALER_STEP))


def _is_covered(optimizer: Value | None, clearings: Sequence[tuple[Event, Value | None]]) -> bool:
    wanted = {id(value) for value in options(optimizer)}
    for _, of in clearings:
        if of is not None and is_network(of):
            if _may_hold(optimizer, of):
                return True
        elif of is None or not is_optimizer(of):
            # By hand, or by something of which nothing is known.
            return True
        cleared = {id(value) for value in options(of)}
        if wanted & cleared or _is_within(optimizer, cleared):
            return True
    return False


def _is_within(optimizer: Value | None, cleared: set[int]) -> bool:
    """Whether an optimizer was built with the groups of one of these, which clears the gradients of both."""
    return any(
        id(part) in cleared
        for value in options(optimizer)
        if isinstance(value, Made) and value.event.role is Role.BUILD_OPTIMIZER
        for part in ancestry(*value.event.args[:1], *value.event.kwargs.values(), most=40)
    )


def _may_hold(optimizer: Value | None, network: Value) -> bool:
    """Whether an optimizer has weights of a network, or nobody knows which weights it has."""
    for value in options(optimizer):
        built = value.event if isinstance(value, Made) and value.event.role is Role.BUILD_OPTIMIZER else None
        given = [part for part in networks_given(built) if is_network(part)] if built is not None else []
        held = {id(part) for value in given for part in parts_of(value)}
        if not held or any(id(part) in held for part in parts_of(network)):
            return True
    return False


def _too_early(step: Event, loop: TrainingLoop, clearings: Sequence[tuple[Event, Value | None]]) -> Event | None:
    """What clears between backward and the update, on the way that is always gone."""
    backward = _before(step, loop.of(Role.BACKWARD))
    if backward is None or step.conditional_within(loop.scope) or backward.index > step.index:
        return None
    wanted = {id(value) for value in options(_optimizer_of(step))}
    for event, of in clearings:
        own = of is not None and bool(wanted & {id(value) for value in options(of)})
        own = own or (of is not None and is_network(of) and _may_hold(_optimizer_of(step), of))
        if own and backward.index < event.index < step.index and not event.conditional_within(loop.scope):
            return event
    return None


def _before(step: Event, backwards: Sequence[Event]) -> Event | None:
    earlier = [event for event in backwards if event.index < step.index]
    return earlier[-1] if earlier else (backwards[-1] if backwards else None)


def _may_clear(loop: TrainingLoop, optimizer: Value | None) -> bool:
    """Whether the optimizer is given to something that cannot be looked into."""
    ids = {id(value) for value in options(optimizer)}
    unseen = (event for event in loop.events if event.name == "?.__call__")
    return any(id(value) in ids for event in unseen for value in event.args)
