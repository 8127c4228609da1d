"""Weights that are shared by mistake: what a script says of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, suspect, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.layers import has_weights
from trueline.script.analysis.networks import networks_given, optimizers_of
from trueline.script.analysis.unread import names_called_by, twice_called_twin, unread_in
from trueline.script.loops import training_loops
from trueline.script.reading.elements import layers_in
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import REPEATED, Event, Trace
from trueline.script.values import Attribute, Instance, Made, Value, ancestry, constant, options


@check("cg.01", decides=False)
def from_script(script: Script) -> Iterator[Finding]:
    """One layer that stands in several places of a network, and weights that one layer takes from another."""
    trace = script.trace
    reported: set[Location] = set()
    for place, finding in (
        *_repeated(trace),
        *_twice_in_a_chain(trace),
        *_two_names(trace),
        *_tied(trace),
        *_in_place_of(script),
        *_searched_on(script),
    ):
        if place not in reported:
            reported.add(place)
            yield finding
    networks = sorted(
        {str(event.place) for event in trace.events if event.method == "__new__" and is_network(event.receiver)}
    )
    chains = sorted({str(event.place) for event in trace.events if layers_in(event.result) is not None})
    if (networks or chains) and not reported:
        yield undecided("cg_01.script.own_weights", evidence=[*networks, *chains][:20])
    elif not reported:
        yield undecided("cg_01.script.no_networks")


# What a network gives itself back from.
_GIVING_ITSELF = functions_of(Trait.SAME, Trait.SETS_MODE, Trait.SETS_PRECISION)
_Told = Iterator[tuple[Location, Finding]]


def _repeated(trace: Trace) -> _Told:
    for event in trace.named(REPEATED):
        if any(has_weights(value) for value in event.args):
            yield event.place, found("cg_01.script.repeated", event.place)


def _twice_in_a_chain(trace: Trace) -> _Told:
    """``nn.Sequential(layer, act, layer)``."""
    repeated = {id(value) for event in trace.named(REPEATED) for value in event.args}
    for event in trace.events:
        held = layers_in(event.result) if isinstance(event.result, Made) and event.result.event is event else None
        if held is None:
            continue
        ids = [id(value) for value in held[0] if has_weights(value)]
        if len(set(ids)) < len(ids) and not set(ids) & repeated:
            yield event.place, found("cg_01.script.twice", event.place)


def _two_names(trace: Trace) -> _Told:
    """``self.fc2 = self.fc1``, where both are used."""
    names: dict[tuple[int, int], str] = {}
    for event in trace.events:
        owner, value, name = event.receiver, event.arg(1), constant(event.arg(0))
        if event.method != "__setattr__" or not isinstance(owner, Instance) or not isinstance(value, Made | Instance):
            continue
        if not is_network(value) or not has_weights(value):
            continue
        first = names.setdefault((id(owner), id(value)), str(name))
        if first == name or owner.attributes.get(first) is not value or owner.attributes.get(str(name)) is not value:
            continue
        both = {first, str(name)} <= names_called_by(owner)
        said = found if both and not _is_embedding(value) else suspect
        yield event.place, said("cg_01.script.two_names", event.place, name=str(name), other=first)


def _is_embedding(value: Value) -> bool:
    return isinstance(value, Made) and "Embedding" in value.name


def _in_place_of(script: Script) -> _Told:
    """Two layers are built alike, and one of them is called in both places."""
    for unread in unread_in(script):
        event = twice_called_twin(unread, script.trace) if unread.has_weights else None
        if event is not None:
            yield event.place, found("cg_01.script.in_place_of", event.place, name=unread.name)


def _tied(trace: Trace) -> _Told:
    """``fc2.weight = fc1.weight``; an embedding that gives its table to the last layer is how it is meant."""
    given = [(event, value) for event in trace.events if (value := _taken_from(event)) is not None]
    whole = {(id(_layer(event.receiver)), id(value)) for event, value in given if constant(event.arg(0)) == "weight"}
    for event, value in given:
        layer = _layer(event.receiver)
        if layer is None or value is layer:
            continue
        kinds = {_kind(layer), _kind(value)}
        if len(kinds) > 1 or "Embedding" in next(iter(kinds)):
            continue
        kind, alone = next(iter(kinds)), (id(layer), id(value)) not in whole
        if constant(event.arg(0)) == "bias" and alone and not _is_kept(value, layer, trace):
            # Two maps with one offset are nobody's design.
            yield event.place, found("cg_01.script.one_bias", event.place, kind=kind)
        else:
            # Written down as it is, it may well be meant.
            yield event.place, suspect("cg_01.script.tied", event.place, kind=kind)


def _is_kept(value: Made, other_value: Made, trace: Trace) -> bool:
    """Whether one of the two layers is never called: its weights are only held by it."""
    called = {id(option) for event in trace.of_role(Role.FORWARD) for option in options(event.receiver)}
    return not {id(value), id(other_value)} <= called


def _layer(value: Value | None) -> Made | None:
    """A library's layer, also one that is told its type of numbers."""
    while isinstance(value, Made) and value.event.method in _GIVING_ITSELF:
        value = value.event.receiver
    return value if isinstance(value, Made) and is_network(value) else None


def _taken_from(event: Event) -> Made | None:
    """The layer whose weight is given to another one."""
    value = event.arg(1)
    if event.method != "__setattr__" or constant(event.arg(0)) not in ("weight", "bias"):
        return None
    return _layer(value.of) if isinstance(value, Attribute) and value.name in ("weight", "bias") else None


def _kind(layer: Made) -> str:
    return layer.name.rpartition(".")[2]


def _searched_on(script: Script) -> _Told:
    """A rate is looked for by training a network, which is then trained on from where the search has left it."""
    trace = script.trace
    loops = [loop for loop in training_loops(trace) if loop.is_certain]
    for built in trace.of_role(Role.BUILD_OPTIMIZER):
        rate = {id(value) for value in ancestry(built.arg(1, "lr", "learning_rate"), most=300)}
        own = {id(value) for value in networks_given(built)}
        for loop in loops:
            scopes = [scope for scope in (loop.scope, *loop.around) if not built.inside(scope)]
            last = loop.events[-1].index
            if last > built.index or not any(id(value) in rate for scope in scopes for value in _counted(scope.value)):
                continue
            before = [event for event in optimizers_of(loop) if own & {id(given) for given in networks_given(event)}]
            if before and not _is_put_back(own, last, built.index, trace):
                place = _alias(before[0], script) or before[0].place
                yield place, found("cg_01.script.searched_on", place, line=built.place.line)


def _counted(value: Value | None) -> Iterator[Value]:
    """What a loop goes through; of several side by side, each."""
    if value is not None:
        yield value
    if isinstance(value, Made) and value.event.method in ("zip", "enumerate"):
        yield from (part for part in value.event.args if isinstance(part, Made) and part.event.method == "range")


def _is_put_back(networks: set[int], first: int, last: int, trace: Trace) -> bool:
    """Whether the weights are loaded again, or reset, before the training."""
    for event in trace.events[first:last]:
        if event.method in functions_of(Trait.LOADS_WEIGHTS, Trait.RESETS) | {"copy_"}:
            if event.receiver is None or event.method == "copy_":
                return True
            if any(id(value) in networks for value in options(event.receiver)):
                return True
    return False


def _alias(built: Event, script: Script) -> Location | None:
    """``probe = model`` in the function that builds an optimizer for what it calls probe."""
    for source in script.files:
        if source.shown != built.place.file:
            continue
        for function in ast.walk(source.tree):
            if not isinstance(function, ast.FunctionDef) or not function.lineno <= built.place.line <= (
                function.end_lineno or 0
            ):
                continue
            given = {node.arg for node in function.args.args}
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id in given:
                    target = node.targets[0]
                    if isinstance(target, ast.Name) and _takes_parameters(function, target.id):
                        return Location.of(built.place.file, node)
    return None


def _takes_parameters(function: ast.AST, name: str) -> bool:
    """Whether a function hands the weights of what it calls so to something."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr in ("parameters", "trainable_params")
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        for node in ast.walk(function)
    )
