"""Weights that are shared by mistake: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.check import check, found, na, none, suspect
from trueline.checks.of_script.layers import has_weights
from trueline.model.finding import Finding
from trueline.script.place import Place
from trueline.script.reading.elements import layers_in
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import REPEATED, Event, Trace
from trueline.script.values import Attribute, Instance, Made, Value, constant, options


@check("cg.01")
def from_script(script: Script) -> Iterator[Finding]:
    """One layer that stands in several places of a network, and weights that one layer takes from another."""
    trace = script.trace
    told: set[Place] = set()
    for place, finding in (*_repeated(trace), *_twice_in_a_chain(trace), *_two_names(trace), *_tied(trace)):
        if place not in told:
            told.add(place)
            yield finding
    networks = sorted({str(one.place) for one in trace.events if one.method == "__new__" and is_network(one.receiver)})
    chains = sorted({str(one.place) for one in trace.events if layers_in(one.result) is not None})
    if (networks or chains) and not told:
        yield none("cg_01_in_script.own_weights", evidence=[*networks, *chains][:20])
    elif not told:
        yield na("cg_01_in_script.no_networks")


_Told = Iterator[tuple[Place, Finding]]


def _repeated(trace: Trace) -> _Told:
    for event in trace.named(REPEATED):
        if any(has_weights(one) for one in event.args):
            yield event.place, found("cg_01_in_script.repeated", event.place.where())


def _twice_in_a_chain(trace: Trace) -> _Told:
    """``nn.Sequential(layer, act, layer)``."""
    repeated = {id(one) for event in trace.named(REPEATED) for one in event.args}
    for event in trace.events:
        held = layers_in(event.result) if isinstance(event.result, Made) and event.result.event is event else None
        if held is None:
            continue
        ids = [id(one) for one in held[0] if has_weights(one)]
        if len(set(ids)) < len(ids) and not set(ids) & repeated:
            yield event.place, found("cg_01_in_script.twice", event.place.where())


def _two_names(trace: Trace) -> _Told:
    """``self.fc2 = self.fc1``, where both are used."""
    names: dict[tuple[int, int], str] = {}
    for event in trace.events:
        owner, value, name = event.receiver, event.arg(1), constant(event.arg(0))
        if event.method != "__setattr__" or not isinstance(owner, Instance) or not isinstance(value, Made):
            continue
        if not is_network(value) or not has_weights(value):
            continue
        first = names.setdefault((id(owner), id(value)), str(name))
        if first == name or owner.attributes.get(first) is not value or owner.attributes.get(str(name)) is not value:
            continue
        said = suspect if "Embedding" in value.name or _calls(value, trace) < 2 else found
        yield event.place, said("cg_01_in_script.two_names", event.place.where(), name=str(name), other=first)


def _calls(layer: Value, trace: Trace) -> int:
    """In how many places a layer is called."""
    return len(
        {event.place for event in trace.of_role(Role.FORWARD) if any(one is layer for one in options(event.receiver))}
    )


def _tied(trace: Trace) -> _Told:
    """``fc2.weight = fc1.weight``; an embedding that gives its table to the last layer is how it is meant."""
    for event in trace.events:
        other = _taken_from(event)
        if other is None or not isinstance(event.receiver, Made) or other is event.receiver:
            continue
        kinds = {_kind(event.receiver), _kind(other)}
        if len(kinds) == 1 and "Embedding" not in next(iter(kinds)):
            # Written down as it is, it may well be meant.
            yield event.place, suspect("cg_01_in_script.tied", event.place.where(), kind=next(iter(kinds)))


def _taken_from(event: Event) -> Made | None:
    """The layer whose weight is given to another one."""
    value = event.arg(1)
    if event.method != "__setattr__" or constant(event.arg(0)) not in ("weight", "bias"):
        return None
    if isinstance(value, Attribute) and value.name in ("weight", "bias") and isinstance(value.of, Made):
        return value.of if is_network(value.of) else None
    return None


def _kind(layer: Made) -> str:
    return layer.name.rpartition(".")[2]
