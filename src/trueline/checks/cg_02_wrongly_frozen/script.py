"""Weights that are meant to learn and cannot: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.checks.cg_02_wrongly_frozen.groups import forgotten, groups_written_at
from trueline.checks.engine.check import check, found, none, suspect, undecided
from trueline.model.finding import Certainty, Finding
from trueline.model.location import Location
from trueline.script.analysis.forwards import forward_around
from trueline.script.analysis.layers import has_weights, is_parameter, registered_in
from trueline.script.analysis.networks import networks_given, optimizers_of, parts_of
from trueline.script.analysis.reach import Reach, frozen_parts, loaded_parts, parts_of_all, reach_of
from trueline.script.loops import TrainingLoop, training_loops
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import BRANCH, UNCALLED, Event, Trace
from trueline.script.values import Derived, Item, Made, Value, constant, options


@check("cg.02")
def from_script(script: Script) -> Iterator[Finding]:
    """Which layers of an optimizer gradients come to, which they are kept from, and which no optimizer has."""
    trace = script.trace
    loops = [loop for loop in training_loops(trace) if loop.is_certain]
    reported: set[Location] = set()
    learning: list[str] = []
    for loop in loops:
        reaches = [reach_of(event) for event in loop.of(Role.BACKWARD)]
        if any(reach.reached for reach in reaches):
            learning.append(str(loop.scope.place))
    for place, finding in (
        *_cut_off(trace),
        *_frozen_and_held(trace, loops),
        *_left_out(trace, loops),
        *_sliced(trace),
        *_forgotten(script),
    ):
        if place not in reported:
            reported.add(place)
            yield finding
    if learning and not reported:
        yield none("cg_02.script.all_reached", evidence=learning)
    elif not reported:
        yield undecided("cg_02.script.not_known")


_Told = Iterator[tuple[Location, Finding]]


def _cut_off(trace: Trace) -> _Told:
    """Layers that an optimizer holds and that every backward is kept from."""
    reaches = [reach for reach in map(reach_of, trace.of_role(Role.BACKWARD)) if reach.reached]
    held = _held(trace)
    reached = {key for reach in reaches for key in reach.reached}
    frozen = parts_of_all(network for _, network in frozen_parts(trace))
    loaded = loaded_parts(trace)
    for reach in reaches:
        for key, (layer, place) in reach.cut_off.items():
            if key in reached or key not in held or key in frozen or not (has_weights(layer) or is_parameter(layer)):
                continue
            if key in loaded:
                yield place, suspect("cg_02.script.may_be_meant", place)
            else:
                yield place, found("cg_02.script.cut_off", place, layer=_line(layer))


def _held(trace: Trace) -> set[int]:
    return {
        id(part)
        for event in trace.of_role(Role.BUILD_OPTIMIZER)
        for value in networks_given(event)
        for part in _with_parameters(value)
    }


def _with_parameters(network: Value) -> Iterator[Value]:
    for part in registered_in(network):
        yield part
        attributes = getattr(part, "attributes", {})
        yield from (value for value in attributes.values() if is_parameter(value))


def _line(layer: Value) -> int:
    return layer.event.place.line if isinstance(layer, Made) else 0


def _frozen_and_held(trace: Trace, loops: Sequence[TrainingLoop]) -> _Told:
    """Weights that are frozen and given to an optimizer all the same, without having come from anywhere."""
    freed = parts_of_all(network for _, network in frozen_parts(trace, wanted=True))
    loaded = loaded_parts(trace)
    for loop in loops:
        whole = [value for built in optimizers_of(loop) if _is_unfiltered(built) for value in networks_given(built)]
        held = {id(part) for value in whole for part in registered_in(value)}
        for event, network in frozen_parts(trace):
            if id(network) not in held or id(network) in freed or id(network) in loaded or not has_weights(network):
                continue
            if event.method == "set_grad" or event.index > loop.events[0].index:
                # Frozen once it has learned.
                continue
            if any(scope.kind == BRANCH for scope in event.scopes):
                yield event.place, suspect("cg_02.script.may_be_frozen", event.place)
            else:
                yield event.place, found("cg_02.script.frozen_and_held", event.place)


def _is_unfiltered(built: Event) -> bool:
    given = built.arg(0, "params")
    return isinstance(given, Made) and given.event.method == "parameters" and built.name.startswith("torch.")


def _left_out(trace: Trace, loops: Sequence[TrainingLoop]) -> _Told:
    """Layers that gradients come to and that no optimizer has."""
    aside = parts_of_all(network for _, network in frozen_parts(trace)) | loaded_parts(trace)
    held = _held(trace)
    for loop in loops:
        built = list(optimizers_of(loop))
        if not built or not all(_is_known(event) for event in built) or not _steps_known(loop):
            continue
        last = max(event.index for event in built)
        called = [
            value
            for event in loop.of(Role.FORWARD)
            if forward_around(event) is None
            for value in options(event.receiver)
        ]
        known = {id(part) for value in called for part in registered_in(value)}
        if not known & held:
            # Another network altogether is the matter of tr.06.
            continue
        reached: dict[int, Value] = {}
        for reach in _reaches(loop):
            reached.update(reach.reached)
        lost = [
            value
            for key, value in reached.items()
            if key in known and key not in held | aside and has_weights(value) and _index(value) < last
        ]
        lost = [value for value in lost if not _is_evaluated(value, trace)]
        if lost:
            place = built[0].place
            yield place, found("cg_02.script.left_out", place, layer=_line(lost[0]))


def _sliced(trace: Trace) -> _Told:
    """``net.parameters()[2:]``: some of a network's weights, and nothing has the others."""
    built = list(trace.of_role(Role.BUILD_OPTIMIZER))
    aside = parts_of_all(network for _, network in frozen_parts(trace)) | loaded_parts(trace)
    for event in built:
        given = _slice_of(event.arg(0, "params"))
        if given is None or any(scope.kind == UNCALLED for scope in event.scopes):
            continue
        networks = list(options(given.event.receiver))
        values = [value for other_event in built if other_event is not event for value in networks_given(other_event)]
        whole = {id(part) for value in networks for part in registered_in(value)}
        if whole & {id(part) for value in values for part in registered_in(value)} or not all(
            map(is_network, networks)
        ):
            continue
        if whole & aside or any(_is_foreign(value) for value in networks):
            yield event.place, suspect("cg_02.script.may_be_sliced", event.place)
        else:
            yield event.place, found("cg_02.script.sliced", event.place, certainty=Certainty.LIKELY)


def _forgotten(script: Script) -> _Told:
    """A group of weights that was collected and is given to no optimizer."""
    known: dict[Location, str | None] = {}
    for event in script.trace.of_role(Role.BUILD_OPTIMIZER):
        place = groups_written_at(event)
        if place is None or any(scope.kind == UNCALLED for scope in event.scopes):
            continue
        if place not in known:
            known[place] = forgotten(place, script)
        name = known[place]
        if name is not None:
            yield place, found("cg_02.script.forgotten", place, certainty=Certainty.LIKELY, name=name)


def _slice_of(given: Value | None) -> Made | None:
    """The call that gives a network's weights, where a part of the list is taken."""
    if not isinstance(given, Item) or not isinstance(given.index, Derived) or given.index.op != "Slice":
        return None
    if all(constant(value, 0) in (None, 0) for value in given.index.of[:2]):
        return None
    inner = given.of
    while isinstance(inner, Made) and inner.event.method in ("list", "tuple") and inner.event.args:
        inner = inner.event.args[0]
    if isinstance(inner, Made) and inner.event.method in functions_of(Trait.LISTS_PARAMETERS):
        return inner
    return None


def _is_foreign(network: Value) -> bool:
    """Whether it has something in it that comes with weights: a model of a library."""
    return any(
        isinstance(value, Made) and not value.name.startswith(("torch.nn.", "mindspore.nn.", "mindspore.mint.nn."))
        for part in parts_of(network)
        for value in (*getattr(part, "attributes", {}).values(), part)
        if isinstance(value, Made) and ("models" in value.name or "pretrained" in value.name or "hub" in value.name)
    )


def _reaches(loop: TrainingLoop) -> Iterator[Reach]:
    return (reach_of(event) for event in loop.of(Role.BACKWARD))


def _index(layer: Value) -> int:
    return layer.event.index if isinstance(layer, Made) else 0


def _is_known(built: Event) -> bool:
    given = networks_given(built)
    return bool(given) and all(is_network(value) for value in given)


def _steps_known(loop: TrainingLoop) -> bool:
    """Whether every step in the loop is of an optimizer that was seen being built."""
    for step in loop.of(Role.STEP, Role.SCALER_STEP):
        value = step.arg(0, "optimizer") if step.role is Role.SCALER_STEP else step.receiver
        if not all(isinstance(part, Made) and part.event.role is Role.BUILD_OPTIMIZER for part in options(value)):
            return False
    return True


def _is_evaluated(layer: Value, trace: Trace) -> bool:
    """Whether the layer, or a part of the network with it, is kept in evaluation mode by itself: it was meant."""
    for event in trace.of_role(Role.EVAL_MODE):
        parts = parts_of_all(options(event.receiver))
        if id(layer) in parts and len(parts) <= 2:
            return True
    return False
