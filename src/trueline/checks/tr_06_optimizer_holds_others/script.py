"""The optimizer holds other parameters than the network that is trained: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import classes_of
from trueline.apitable.traits import Trait
from trueline.checks.engine.check import check, found, none, undecided
from trueline.model.finding import Finding
from trueline.script.analysis.forwards import forward_around
from trueline.script.analysis.networks import networks_given, optimizers_of, parts_of
from trueline.script.loops import TrainingLoop, training_loops
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import UNCALLED, Event, Trace
from trueline.script.values import Instance, Made, Value, ancestry, options

_WRAPPING: Final = classes_of(Trait.WRAPS_NETWORK)


@check("tr.06")
def from_script(script: Script) -> Iterator[Finding]:
    """What optimizers were built with, what is called in the loop, and what was put in between."""
    trace = script.trace
    holding: list[str] = []
    reported: set[str] = set()
    for loop in training_loops(trace):
        if not loop.is_certain:
            continue
        for built in optimizers_of(loop):
            given = [value for value in networks_given(built) if is_network(value)]
            trained = _called(loop)
            if not given or not trained or str(built.place) in reported:
                continue
            held = {id(part) for value in given for part in parts_of(value)}
            if not any(id(part) in held for value in trained for part in (*parts_of(value), *_built_of(value))):
                reported.add(str(built.place))
                later = next(
                    (
                        event
                        for event in map(_built_at, map(_unwrapped, trained))
                        if event is not None and event.index > built.index
                    ),
                    None,
                )
                if later is not None:
                    yield found("tr_06.script.built_later", later.place, built=built.place.line)
                else:
                    yield found("tr_06.script.other_network", built.place, loop=loop.scope.place.line)
                continue
            replaced = _replaced(built, given, loop, trace)
            if replaced is not None:
                reported.add(str(built.place))
                yield found("tr_06.script.replaced_later", replaced.place, built=built.place.line)
            else:
                holding.append(str(built.place))
    if holding:
        yield none("tr_06.script.holds", evidence=holding)
    elif not reported:
        yield undecided("tr_06.script.unknown")


def _called(loop: TrainingLoop) -> list[Value]:
    """The networks that the loop calls itself, not those that networks call."""
    values: list[Value] = []
    for event in loop.of(Role.FORWARD):
        if event.receiver is not None and forward_around(event) is None:
            values.extend(options(event.receiver))
    return values


def _replaced(built: Event, given: list[Value], loop: TrainingLoop, trace: Trace) -> Event | None:
    """A part of the network that was put in after the optimizer had been built, and before training."""
    held = {id(part) for value in given for part in parts_of(value)}
    first = loop.events[0].index
    for event in trace.events[built.index + 1 : first]:
        if event.method in ("__setattr__", "__setitem__", "insert_child_to_cell") and id(event.receiver) in held:
            value = event.arg(1)
            made = next((part for part in options(value) if is_network(part)), None)
            if made is not None and not any(scope.kind == UNCALLED for scope in event.scopes) and _is_new(made, built):
                return event
    return None


def _is_new(value: Value, built: Event) -> bool:
    event = _built_at(value)
    return event is not None and event.index > built.index


def _unwrapped(value: Value) -> Value:
    """The network itself, where it was given to something that trains it or computes its loss."""
    for _ in range(5):
        inner = value.event.arg(0, "network", "backbone", "module") if isinstance(value, Made) else None
        if not isinstance(value, Made) or value.name.rpartition(".")[2] not in _WRAPPING or not is_network(inner):
            break
        value = next(part for part in options(inner) if is_network(part))
    return value


def _built_of(network: Value) -> Iterator[Value]:
    """What a network was built with: one that is wrapped is in there, whatever the wrapper keeps it as."""
    event = _built_at(network)
    # A copy has weights of its own.
    if event is not None and event.name != "copy.deepcopy":
        yield from ancestry(*event.args, *event.kwargs.values(), most=200)


def _built_at(value: Value) -> Event | None:
    return value.event if isinstance(value, Made | Instance) else None
