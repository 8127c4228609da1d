"""Weights that start from zero or from one constant: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueline.checks.engine.check import check, found, none, suspect, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.layers import has_weights, is_leaf, registered_in
from trueline.script.analysis.networks import NORMS
from trueline.script.analysis.reach import loaded_parts
from trueline.script.analysis.starts import Filling, Start, starts
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import BRANCH, Event, Trace
from trueline.script.values import Const, Derived, Instance, Made, Value, ancestry, options


@check("wi.01")
def from_script(script: Script) -> Iterator[Finding]:
    """What is put into the weights of layers that are called, before they are trained."""
    trace = script.trace
    last: dict[int, Start] = {}
    for start in starts(trace):
        if _counts(start.layer):
            last[id(start.layer)] = start
    loaded = loaded_parts(trace)
    calls = _calls(trace)
    alike = [
        start
        for key, start in last.items()
        if start.filling is not Filling.OTHER and key not in loaded and key in calls
    ]
    added = _added(trace) if alike else set()
    alike = [start for start in alike if id(start.layer) not in added]
    owners = _owners(trace)
    inner = [start for start in alike if not _is_last(start.layer, calls, trace)]
    inner = [start for start in inner if not _is_last_of_part(start.layer, owners, calls, trace)]
    reported: set[Location] = set()
    for start in alike if inner else ():
        if start.event.place not in reported:
            reported.add(start.event.place)
            said = suspect if any(scope.kind == BRANCH for scope in start.event.scopes) and len(alike) < 2 else found
            yield said(f"wi_01.script.{start.filling.value}", start.event.place)
    if calls and not reported:
        yield none("wi_01.script.different", evidence=sorted({str(event.place) for event in calls.values()})[:20])
    elif not reported:
        yield undecided("wi_01.script.no_layers")


def _counts(layer: Value) -> bool:
    return isinstance(layer, Made) and has_weights(layer) and not layer.name.rpartition(".")[2].startswith(NORMS)


def _calls(trace: Trace) -> dict[int, Event]:
    """The first call of each layer with weights."""
    found_: dict[int, Event] = {}
    for event in trace.of_role(Role.FORWARD):
        for value in options(event.receiver):
            if is_leaf(value) and has_weights(value):
                found_.setdefault(id(value), event)
    return found_


def _is_last(layer: Value, calls: dict[int, Event], trace: Trace) -> bool:
    """Whether no other layer with weights comes after it: a head may start from zero."""
    results = {
        id(event.result)
        for event in trace.of_role(Role.FORWARD)
        if any(value is layer for value in options(event.receiver))
    }
    for key, event in calls.items():
        if key != id(layer) and any(id(value) in results for value in ancestry(*event.args, most=3000)):
            return False
    return True


def _owners(trace: Trace) -> dict[int, Instance]:
    """The network of the project that has a layer as an attribute."""
    return {
        id(value): event.receiver
        for event in trace.events
        if event.method == "__setattr__" and isinstance(event.receiver, Instance)
        for value in options(event.arg(1))
    }


def _is_last_of_part(layer: Value, owners: dict[int, Instance], calls: dict[int, Event], trace: Trace) -> bool:
    """Whether it is the last of several layers of a part, as of one that predicts how to turn its input."""
    owner = owners.get(id(layer))
    if owner is None:
        return False
    own = {id(value) for value in registered_in(owner)}
    inside = {key: event for key, event in calls.items() if key in own}
    return len(inside) > 1 and _is_last(layer, inside, trace)


def _added(trace: Trace) -> set[int]:
    """Layers whose result is added to something else: the last of a residual branch may start from zero."""
    found_: set[int] = set()
    losses = [event.receiver for event in trace.of_role(Role.BACKWARD)]
    for value in ancestry(*losses, most=60_000):
        if isinstance(value, Derived) and value.op == "Add" and not any(isinstance(part, Const) for part in value.of):
            sides = [_nearest(part) for part in value.of]
            if all(sides):
                # What goes into the branch as well is the trunk: without it there is nothing.
                before = [_behind(part) for part in value.of]
                for at, side in enumerate(sides):
                    found_.update(key for key in side if key not in before[1 - at])
    return found_


def _behind(value: Value) -> set[int]:
    """All layers that a value comes from."""
    return {
        id(part.event.receiver)
        for part in ancestry(value, most=3000)
        if isinstance(part, Made) and part.event.method == "__call__" and part.event.receiver is not None
    }


def _nearest(value: Value) -> Sequence[int]:
    """The layers with weights that a value comes from, without those before them; the input counts as one."""
    waiting: list[Value] = [value]
    nearest: list[int] = []
    seen: set[int] = set()
    while waiting and len(seen) < 60:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        layer = part.event.receiver if isinstance(part, Made) and part.event.method == "__call__" else None
        if layer is not None and _counts(layer):
            nearest.append(id(layer))
        elif isinstance(part, Made) and part.event.role is Role.LOSS:
            return ()
        else:
            parts = list(part.parts())
            waiting.extend(parts)
            if not parts and not isinstance(part, Const):
                nearest.append(0)
    return nearest
