"""Layers of a network that lead nowhere: what a script says of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from trueline.checks.check import check, found, na, none, suspect
from trueline.checks.of_script.forwards import calls_of_networks, forward_around, is_differentiated, values_trained
from trueline.checks.of_script.layers import has_weights, is_leaf, registered_in
from trueline.checks.of_script.networks import networks_given
from trueline.model.finding import Finding
from trueline.script.loops import training_loops
from trueline.script.place import Place
from trueline.script.reading.elements import layers_in
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import Event, Trace
from trueline.script.values import Const, Instance, Made, Unknown, Value, ancestry, constant, options

_ALL_AT_ONCE: Final = frozenset(
    ("children", "named_children", "modules", "named_modules", "cells", "name_cells", "cells_and_names", "getattr")
)
_FAR: Final = 200_000


@check("cg.03")
def from_script(script: Script) -> Iterator[Finding]:
    """Layers that nothing ever reads, and those whose result goes into no loss."""
    trace = script.trace
    told: set[Place] = set()
    networks = sorted({str(one.place) for one in calls_of_networks(trace)})
    for place, finding in (*never_read(script), *_to_no_loss(trace)):
        if place not in told:
            told.add(place)
            yield finding
    if networks and not told:
        yield none("cg_03_in_script.all_used", evidence=networks[:20])
    elif not told:
        yield na("cg_03_in_script.no_networks")


_Told = Iterator[tuple[Place, Finding]]


def never_read(script: Script) -> _Told:
    """Layers that a network has and that nothing reads from it."""
    trace = script.trace
    by_self, elsewhere = _names_read(script)
    called = {id(one) for event in trace.of_role(Role.FORWARD) for one in options(event.receiver)}
    unseen = _gone_through(trace)
    for event in trace.events:
        owner, value = event.receiver, event.arg(1)
        name = constant(event.arg(0))
        if event.method != "__setattr__" or not isinstance(owner, Instance) or not isinstance(name, str):
            continue
        if layers_in(owner) is not None or id(owner) not in called or id(owner) in unseen:
            # A chain calls all that it has.
            continue
        if not all(is_network(one) for one in options(value)):
            continue
        own = {read for cls in owner.cls.lineage() for read in by_self.get(id(cls.node), ())}
        if name in own or name in elsewhere or _is_used(value, trace):
            continue
        said = found if has_weights(value) else suspect
        yield event.place, said("cg_03_in_script.never_read", event.place.where(), name=name)


def _names_read(script: Script) -> tuple[dict[int, set[str]], set[str]]:
    """The attributes that each class reads from itself, and those that anything reads from anything else."""
    by_self: dict[int, set[str]] = {}
    elsewhere: set[str] = set()
    for source in script.files:
        inside: dict[int, int] = {}
        for cls in ast.walk(source.tree):
            if isinstance(cls, ast.ClassDef):
                inside.update(dict.fromkeys((id(node) for node in ast.walk(cls)), id(cls)))
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                if isinstance(node.value, ast.Name) and node.value.id == "self" and id(node) in inside:
                    by_self.setdefault(inside[id(node)], set()).add(node.attr)
                else:
                    elsewhere.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                # Read by its name: getattr(self, "head"), a path of a checkpoint.
                elsewhere.update(node.value.split("."))
    return by_self, elsewhere


def _gone_through(trace: Trace) -> set[int]:
    """Networks whose layers are reached without being named."""
    found_: set[int] = set()
    for event in trace.events:
        if event.method == "getattr" and not isinstance(event.arg(1), Const):
            found_.update(id(one) for one in options(event.arg(0)))
        elif event.method in _ALL_AT_ONCE and forward_around(event) is not None:
            found_.update(id(one) for one in options(event.receiver))
    return found_


def _is_used(value: Value | None, trace: Trace) -> bool:
    """A layer that is called under another name: as an element of a list, as part of a chain."""
    ids = {id(one) for one in options(value)}
    return any(
        id(one) in ids
        for event in trace.of_role(Role.FORWARD)
        for called in options(event.receiver)
        for one in (called, *called.parts())
    )


def _to_no_loss(trace: Trace) -> _Told:
    loops = [one for one in training_loops(trace) if one.is_certain]
    held = {
        id(part)
        for event in trace.of_role(Role.BUILD_OPTIMIZER)
        for one in networks_given(event)
        for part in registered_in(one)
    }
    trained = values_trained(trace)
    learning = _layers_in(trace, trained)
    kept = _kept(trace)
    # Where one of too many was chosen, what became of the others is not known.
    known = not any(isinstance(one, Unknown) and one.why == "one of many" for one in _losses(trace))
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
            yield event.place, said("cg_03_in_script.thrown_away", event.place.where(), kind=kind)
        elif has_weights(layer):
            said = found if known and not _is_in_place(event, trace) else suspect
            yield event.place, said("cg_03_in_script.to_no_loss", event.place.where(), kind=kind)


def _losses(trace: Trace) -> Iterator[Value]:
    return ancestry(*(one.receiver for one in trace.of_role(Role.BACKWARD)), most=_FAR)


def _layers_in(trace: Trace, trained: set[int]) -> set[int]:
    """The layers that backward goes through in some of their calls."""
    return {
        id(one)
        for event in trace.of_role(Role.FORWARD)
        if id(event.result) in trained
        for one in options(event.receiver)
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
    return {id(one) for one in ancestry(*values, most=_FAR)}


def _writes(event: Event) -> bool:
    if event.name.startswith("builtins."):
        return False
    return event.method in ("__setitem__", "__setattr__", "append", "add", "extend") or (
        event.method.endswith("_") and not event.method.endswith("__")
    )


def _is_in_place(event: Event, trace: Trace) -> bool:
    """Whether a result is written into a tensor, from where it may come to the loss unseen."""
    return any(
        one is event.result
        for later in trace.events[event.index :]
        if _writes(later)
        for one in ancestry(*later.args, most=200)
    )
