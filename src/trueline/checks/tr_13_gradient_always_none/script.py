"""Weights that no gradient reaches because the network does not know them or does not use them: what a script says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeGuard

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, none, suspect, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.forwards import forward_around, is_forward
from trueline.script.analysis.gradients import is_without_gradient
from trueline.script.analysis.layers import (
    PARAMETERS,
    has_weights,
    is_parameter,
    layers_within,
    registered_in,
    values_used,
)
from trueline.script.analysis.networks import networks_given
from trueline.script.analysis.unread import unread_in
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import BRANCH, CALL, HANDLER, UNCALLED, Event, Trace
from trueline.script.values import Derived, Function, Instance, Made, Seq, Table, Value, constant, options

# Methods that give a tensor made from a parameter, which is no parameter any more.
_MAKING: Final = {
    name
    for name in functions_of(
        *(Trait.VIEW, Trait.EXPANDS, Trait.REPEATS, Trait.ELEMENTWISE, Trait.ADDS, Trait.MULTIPLIES, Trait.DIVIDES),
        *(Trait.COPIES, Trait.TO_FLOAT16, Trait.TO_FLOAT32),
    )
    if not name.endswith("_")
} | {"cuda", "astype"}


@check("tr.13")
def from_script(script: Script) -> Iterator[Finding]:
    """Layers in plain lists, layers built in forward, parameters that are lost or never used."""
    trace = script.trace
    reported: set[Location] = set()
    lost = (*_in_plain_lists(trace), *_built_in_forward(trace), *_lost(trace))
    for finding in (*lost, *_unused(trace), *_never_read(script), *_spare(trace)):
        place = Location(finding.where.file or "", finding.where.line or 0)
        if place not in reported:
            reported.add(place)
            yield finding
    networks = sorted(
        {str(event.place) for event in trace.events if event.method == "__new__" and is_network(event.receiver)}
    )
    if networks and not reported:
        yield none("tr_13.script.all_known", evidence=networks[:20])
    elif not reported:
        yield undecided("tr_13.script.no_networks")


def _in_plain_lists(trace: Trace) -> Iterator[Finding]:
    given = {id(value) for event in trace.of_role(Role.BUILD_OPTIMIZER) for value in networks_given(event)}
    called = {id(option) for event in trace.of_role(Role.FORWARD) for option in options(event.receiver)}
    for event in trace.events:
        owner, value = event.receiver, event.arg(1)
        if event.method != "__setattr__" or not isinstance(owner, Instance) or not isinstance(value, Seq | Table):
            continue
        if owner.attributes.get(str(constant(event.arg(0)))) is not value:
            continue
        known = {id(value) for value in registered_in(owner)} | given
        lost = [part for part in layers_within(value) if id(part) not in known and has_weights(part)]
        lost = [value for value in lost if id(value) in called]
        if not lost or _all_without_gradient(lost, trace):
            continue
        name = str(constant(event.arg(0)))
        if len(value.parts()) == 1 and not value.open:
            # A list of one is how a network is kept out of another's parameters.
            yield suspect("tr_13.script.may_be_hidden", event.place, name=name)
        else:
            yield found("tr_13.script.plain_list", event.place, name=name)


def _all_without_gradient(layers: list[Value], trace: Trace) -> bool:
    ids = {id(value) for value in layers}
    calls = [
        event for event in trace.of_role(Role.FORWARD) if any(id(value) in ids for value in options(event.receiver))
    ]
    return bool(calls) and all(is_without_gradient(event) for event in calls)


def _built_in_forward(trace: Trace) -> Iterator[Finding]:
    for event in trace.events:
        if forward_around(event) is None or is_without_gradient(event):
            continue
        weight = event.name in PARAMETERS
        if not weight and not (_is_built(event) and has_weights(event.result)):
            continue
        at = max(
            index for index, scope in enumerate(event.scopes) if _is_forward_call(scope.value) and scope.kind == CALL
        )
        inner = event.scopes[at + 1 :]
        if any(scope.kind == CALL and scope.name.endswith("__init__") for scope in inner):
            continue
        kind = event.name.rpartition(".")[2] if not isinstance(event.result, Instance) else event.result.cls.name
        if any(scope.kind in (BRANCH, HANDLER) for scope in inner):
            yield suspect("tr_13.script.built_when_needed", event.place, kind=kind)
        else:
            yield found("tr_13.script.built_in_forward", event.place, kind=kind)


def _is_built(event: Event) -> bool:
    result = event.result
    if isinstance(result, Instance):
        return event.method == "__new__" and is_network(result)
    return isinstance(result, Made) and result.event is event and event.receiver is None and is_network(result)


def _is_forward_call(value: Value | None) -> bool:
    return isinstance(value, Function) and is_forward(value)


def _lost(trace: Trace) -> Iterator[Finding]:
    """``self.scale = nn.Parameter(…) * 0.1``: what is kept is a tensor."""
    kept: set[int] = set()
    for event in trace.events:
        if event.method == "__setattr__" and isinstance(event.receiver, Instance) and forward_around(event) is None:
            value = event.arg(1)
            if isinstance(value, Derived) and value.op in ("Mult", "Div", "Add", "Sub"):
                # ``self.count += 1`` changes the parameter that is there.
                lost = any(is_parameter(part) and id(part) not in kept for part in value.of)
            else:
                lost = isinstance(value, Made) and value.event.method in _MAKING and is_parameter(value.event.receiver)
            kept.update(id(part) for part in options(value))
            if lost:
                yield found("tr_13.script.no_parameter", event.place, name=str(constant(event.arg(0), "parameter")))


def _unused(trace: Trace) -> Iterator[Finding]:
    """Parameters of networks that are called and optimized, and that nothing is ever done with."""
    called = {id(value) for event in trace.of_role(Role.FORWARD) for value in options(event.receiver)}
    given = [value for event in trace.of_role(Role.BUILD_OPTIMIZER) for value in networks_given(event)]
    held = {id(part) for value in given for part in registered_in(value)}
    used: set[int] | None = None
    for event in trace.events:
        owner, value = event.receiver, event.arg(1)
        if event.method != "__setattr__" or not is_parameter(value) or id(owner) not in called & held:
            continue
        name = str(constant(event.arg(0)))
        if not isinstance(owner, Instance) or owner.attributes.get(name) is not value:
            continue
        used = values_used(trace) if used is None else used
        if id(value) not in used:
            yield found("tr_13.script.unused", event.place, name=name)


def _never_read(script: Script) -> Iterator[Finding]:
    """Layers that an optimizer holds and nothing reads: what follows from a network that is wrongly connected."""
    given = [value for event in script.trace.of_role(Role.BUILD_OPTIMIZER) for value in networks_given(event)]
    held = {id(part) for value in given for part in registered_in(value)}
    for unread in unread_in(script):
        if unread.has_weights and id(unread.owner) in held:
            yield found("tr_13.script.layer_unused", unread.event.place, because="cg.03", name=unread.name)


# What is done with a network without going through it.
_AROUND: Final = functions_of(
    *(Trait.LISTS_PARAMETERS, Trait.SETS_MODE, Trait.SAME, Trait.CLEARS_GRADIENTS, Trait.GIVES_WEIGHTS),
    *(Trait.FREEZES, Trait.SAYS),
) | {"__setattr__", "__new__", "__init__", "update_parameters_name"}


def _spare(trace: Trace) -> Iterator[Finding]:
    """Networks whose weights an optimizer holds beside those of the trained one, and that nothing goes through."""
    called = [value for event in trace.of_role(Role.FORWARD) for value in options(event.receiver)]
    for event in trace.of_role(Role.BUILD_OPTIMIZER):
        if any(scope.kind in (BRANCH, HANDLER, UNCALLED) for scope in event.scopes):
            continue
        networks = list({id(value): value for value in networks_given(event)}.values())
        through = {id(part) for value in called for part in registered_in(value)}
        spare = [value for value in networks if id(value) not in through and _is_left(value, trace)]
        # Where none of them is gone through, the way to the network is not known.
        for value in spare if len(spare) < len(networks) else ():
            kind = value.cls.name if isinstance(value, Instance) else value.name.rpartition(".")[2]
            yield found("tr_13.script.spare", event.place, kind=kind)


def _is_left(network: Value, trace: Trace) -> TypeGuard[Instance | Made]:
    """Whether all that happens to a network, and to what is in it, is that it is built and optimized."""
    if not isinstance(network, Instance | Made) or not has_weights(network):
        return False
    inside = {id(value) for value in registered_in(network)}
    for event in trace.events:
        if event.method in _AROUND or id(event.result) in inside:
            continue
        given = (event.receiver, *event.args, *event.kwargs.values())
        if any(_touches(value, inside) for value in given if value is not None):
            return False
    return True


def _touches(value: Value, networks: set[int]) -> bool:
    """Whether a value is one of these networks or has one in it; their weights as a list are not meant."""
    waiting, seen = [value], 0
    while waiting and seen < 60:
        part = waiting.pop()
        seen += 1
        if id(part) in networks:
            return True
        if not (isinstance(part, Made) and part.event.method in _AROUND):
            waiting.extend(part.parts())
    return False
