"""Layers of a network that lead nowhere: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.checks.cg_03_wrongly_connected.shortcuts import lacking
from trueline.checks.engine.check import check, found, none, suspect, undecided
from trueline.model.finding import Certainty, Finding
from trueline.model.location import Location
from trueline.script.analysis.forwards import calls_of_networks, forward_around, is_differentiated, values_trained
from trueline.script.analysis.layers import has_weights, is_leaf, registered_in
from trueline.script.analysis.networks import networks_given
from trueline.script.analysis.unread import is_missed, twice_called_twin, unread_in
from trueline.script.loops import training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Event, Trace
from trueline.script.values import Made, Unknown, Value, ancestry, constant, options

# Values behind all losses: bounds the graph, which may be cyclic.
MAX_VISITED_VALUES: Final = 200_000


@check("cg.03")
def from_script(script: Script) -> Iterator[Finding]:
    """Layers that nothing ever reads, and those whose result goes into no loss."""
    trace = script.trace
    reported: set[Location] = set()
    networks = sorted({str(event.place) for event in calls_of_networks(trace)})
    for place, finding in (*never_read(script), *_to_no_loss(trace), *_without_shortcut(trace)):
        if place not in reported:
            reported.add(place)
            yield finding
    if networks and not reported:
        yield none("cg_03.script.all_used", evidence=networks[:20])
    elif not reported:
        yield undecided("cg_03.script.no_networks")


_Told = Iterator[tuple[Location, Finding]]


def never_read(script: Script) -> _Told:
    """Layers that a network has and that nothing reads from it."""
    trace = script.trace
    for unread in unread_in(script):
        place = unread.event.place
        if unread.has_weights:
            # Where its twin is called in its place, that is what is wrong.
            because = "cg.01" if twice_called_twin(unread, trace) is not None else None
            yield place, found("cg_03.script.never_read", place, because=because, name=unread.name)
        elif is_missed(unread, trace):
            yield (
                place,
                found("cg_03.script.never_read", place, certainty=Certainty.LIKELY, name=unread.name),
            )
        else:
            yield place, suspect("cg_03.script.never_read", place, name=unread.name)


def _without_shortcut(trace: Trace) -> _Told:
    for event in lacking(trace):
        where = event.place
        yield event.place, found("cg_03.script.no_shortcut", where, certainty=Certainty.LIKELY)


def _to_no_loss(trace: Trace) -> _Told:
    loops = [loop for loop in training_loops(trace) if loop.is_certain]
    held = {
        id(part)
        for event in trace.of_role(Role.BUILD_OPTIMIZER)
        for value in networks_given(event)
        for part in registered_in(value)
    }
    trained = values_trained(trace)
    learning = _layers_in(trace, trained)
    kept = _kept(trace)
    # Where one of too many was chosen, what became of the others is not known.
    known = not any(isinstance(value, Unknown) and value.why == "one of many" for value in _losses(trace))
    for event in trace.of_role(Role.FORWARD):
        layer = event.receiver
        if not isinstance(layer, Made) or not is_leaf(layer) or id(layer) not in held or forward_around(event) is None:
            continue
        if not any(event.inside(loop.scope) for loop in loops) and not is_differentiated(event):
            continue
        if id(event.result) in trained or id(layer) in learning or constant(layer.event.arg(None, "inplace")) is True:
            continue
        kind = layer.name.rpartition(".")[2]
        if id(event.result) not in kept:
            said = found if known else suspect
            yield event.place, said("cg_03.script.thrown_away", event.place, kind=kind)
        elif has_weights(layer):
            said = found if known and not _is_in_place(event, trace) else suspect
            yield event.place, said("cg_03.script.to_no_loss", event.place, kind=kind)


def _losses(trace: Trace) -> Iterator[Value]:
    return ancestry(*(event.receiver for event in trace.of_role(Role.BACKWARD)), most=MAX_VISITED_VALUES)


def _layers_in(trace: Trace, trained: set[int]) -> set[int]:
    """The layers that backward goes through in some of their calls."""
    return {
        id(value)
        for event in trace.of_role(Role.FORWARD)
        if id(event.result) in trained
        for value in options(event.receiver)
    }


def _kept(trace: Trace) -> set[int]:
    """What networks give, or is done something with outside of them, or is written into something."""
    values: list[Value] = []
    for event in trace.events:
        if event.role is Role.FORWARD and event.result is not None and forward_around(event) is None:
            values.append(event.result)
        if forward_around(event) is None or _writes(event):
            values.extend((*event.args, *event.kwargs.values()))
            values.extend([event.receiver] if event.receiver is not None else [])
    return {id(value) for value in ancestry(*values, most=MAX_VISITED_VALUES)}


def _writes(event: Event) -> bool:
    if event.name.startswith("builtins."):
        return False
    return event.method in functions_of(Trait.COLLECTS) | {"__setitem__", "__setattr__"} or (
        event.method.endswith("_") and not event.method.endswith("__")
    )


def _is_in_place(event: Event, trace: Trace) -> bool:
    """Whether a result is written into a tensor, from where it may come to the loss unseen."""
    return any(
        value is event.result
        for later in trace.events[event.index :]
        if _writes(later)
        for value in ancestry(*later.args, most=200)
    )
