"""Layers and weights that a network is built with and that nothing ever reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from trueline.apitable.functions import classes_of, functions_of, names_of, stems_of
from trueline.apitable.traits import Trait
from trueline.script.analysis.forwards import forward_around
from trueline.script.analysis.layers import has_weights, is_parameter
from trueline.script.analysis.networks import DROPOUTS, parts_of
from trueline.script.reading.elements import layers_in
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import CALL, Event, Scope, Trace
from trueline.script.values import Const, Instance, Made, Seq, Value, constant, options
from trueline.script.walking import walk

_ALL_AT_ONCE: Final = functions_of(Trait.LISTS_LAYERS) | {"getattr"}
_ACTIVATIONS: Final = classes_of(Trait.ACTIVATION)
# Layers that may drop values by themselves.
_DROPPING: Final = stems_of(Trait.TRANSFORMER, Trait.ATTENTION, Trait.RECURRENT)
_LINEAR: Final = names_of(Trait.LINEAR, Trait.CONV)
# What leaves a linear map a linear map.
_BETWEEN: Final = names_of(Trait.SAME, Trait.VIEW, Trait.DROPOUT, Trait.MEAN, Trait.MEAN_POOL, Trait.SETS_PRECISION)


@dataclass(frozen=True, slots=True)
class Unread:
    """A layer or weight under a name that nothing reads, and the call that put it there."""

    event: Event
    owner: Instance
    name: str
    value: Value

    @property
    def has_weights(self) -> bool:
        """Whether something to learn is lost with it."""
        return has_weights(self.value) or is_parameter(self.value)


@lru_cache(maxsize=1)
def unread_in(script: Script) -> Sequence[Unread]:
    """The layers and weights of networks that are called, which nothing in the project reads."""
    trace = script.trace
    _, elsewhere = _names_read(script)
    called = {id(value) for event in trace.of_role(Role.FORWARD) for value in options(event.receiver)}
    unseen = _gone_through(trace)
    places: list[Unread] = []
    for event in trace.events:
        owner, value = event.receiver, event.arg(1)
        name = constant(event.arg(0))
        if event.method != "__setattr__" or not isinstance(owner, Instance) or not isinstance(name, str):
            continue
        if layers_in(owner) is not None or id(owner) not in called or id(owner) in unseen or value is None:
            # A chain calls all that it has.
            continue
        if not is_parameter(value) and not all(is_network(part) for part in options(value)):
            continue
        if name not in _names_read_by(owner, script) and name not in elsewhere and not _is_used(value, trace):
            places.append(Unread(event, owner, name, value))
    return places


def _names_read_by(owner: Instance, script: Script) -> set[str]:
    """The attributes that an object's class reads from itself."""
    by_self, _ = _names_read(script)
    return {read for cls in owner.cls.lineage() for read in by_self.get(id(cls.node), ())}


def names_called_by(owner: Instance) -> set[str]:
    """The attributes that an object's class calls: ``self.norm(x)``."""
    return {
        node.func.attr
        for cls in owner.cls.lineage()
        for node in ast.walk(cls.node)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "self"
    }


@lru_cache(maxsize=1)
def _names_read(script: Script) -> tuple[Mapping[int, set[str]], set[str]]:
    """The attributes that each class reads from itself, and those that anything reads from anything else."""
    by_self: dict[int, set[str]] = {}
    elsewhere: set[str] = set()
    for source in script.files:
        inside: dict[int, int] = {}
        for cls in ast.walk(source.tree):
            if isinstance(cls, ast.ClassDef):
                inside.update(dict.fromkeys((id(node) for node in ast.walk(cls)), id(cls)))
        titles = {id(node) for node in _titles(source.tree)}
        # ``self.count += 1`` reads what it writes.
        added = {id(node.target) for node in ast.walk(source.tree) if isinstance(node, ast.AugAssign)}
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and (isinstance(node.ctx, ast.Load) or id(node) in added):
                if isinstance(node.value, ast.Name) and node.value.id == "self" and id(node) in inside:
                    by_self.setdefault(inside[id(node)], set()).add(node.attr)
                else:
                    elsewhere.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in titles:
                # Read by its name: getattr(self, "head"), a path of a checkpoint.
                elsewhere.update(node.value.split("."))
    return by_self, elsewhere


def _titles(tree: ast.AST) -> Iterator[ast.AST]:
    """What a parameter is called where it is built, and what its name is compared with: neither reads it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "name":
            yield node.value
        elif isinstance(node, ast.Compare):
            yield from (node.left, *node.comparators)


def _gone_through(trace: Trace) -> set[int]:
    """Networks whose layers are reached without being named."""
    seen: set[int] = set()
    for event in trace.events:
        if event.method == "getattr" and not isinstance(event.arg(1), Const):
            seen.update(id(value) for value in options(event.arg(0)))
        elif event.method in _ALL_AT_ONCE and forward_around(event) is not None:
            seen.update(id(value) for value in options(event.receiver))
    return seen


def _is_used(value: Value | None, trace: Trace) -> bool:
    """A layer that is called under another name: as an element of a list, as part of a chain."""
    ids = {id(part) for part in options(value)}
    return any(
        id(part) in ids
        for event in trace.of_role(Role.FORWARD)
        for called in options(event.receiver)
        for part in (called, *called.parts())
    )


def is_missed(unread: Unread, trace: Trace) -> bool:
    """Whether a layer without weights is plainly missing: nothing else does in its network what it is built for."""
    kind = unread.value.name.rpartition(".")[2] if isinstance(unread.value, Made) else ""
    calls = list(_calls_within(unread.owner, trace))
    if kind.startswith(DROPOUTS):
        share = constant(unread.value.event.arg(0, "p")) if isinstance(unread.value, Made) else None
        values = [part for part in parts_of(unread.owner) if part is not unread.value and isinstance(part, Made)]
        dropping = any(part.name.rpartition(".")[2].startswith((*DROPOUTS, *_DROPPING)) for part in values)
        return share != 0 and not dropping and not any("dropout" in event.name.lower() for event in calls)
    if kind in _ACTIVATIONS:
        return any(_follows_linear(event) for event in calls)
    return False


def _calls_within(owner: Instance, trace: Trace) -> Iterator[Event]:
    """What a network does when it is called."""
    for event in trace.events:
        around = forward_around(event)
        if around is not None and around.bound is owner:
            yield event


def _follows_linear(event: Event) -> bool:
    """Whether a linear layer takes what another one gives, with nothing between them that bends."""
    if not _is_linear(event):
        return False
    waiting = list(event.args[:1])
    for _ in range(40):
        if not waiting:
            return False
        value = waiting.pop()
        if not isinstance(value, Made):
            continue
        if _is_linear(value.event):
            return True
        if _kind(value.event) in _BETWEEN:
            waiting.extend(value.event.args[:1])
            if value.event.role is not Role.FORWARD and value.event.receiver is not None:
                waiting.append(value.event.receiver)
    return False


def _is_linear(event: Event) -> bool:
    return _kind(event) in _LINEAR and (event.role is Role.FORWARD or _kind(event)[:1].islower())


def _kind(event: Event) -> str:
    return event.name.removesuffix(".__call__").rpartition(".")[2]


def twice_called_twin(unread: Unread, trace: Trace) -> Event | None:
    """The second call of a layer that is built just as an unread one, and stands in both places."""
    for name, value in unread.owner.attributes.items():
        if name == unread.name or value is unread.value or not is_built_alike(unread.value, value):
            continue
        calls: dict[int, Event] = {}
        for event in trace.of_role(Role.FORWARD):
            if not any(option is value for option in options(event.receiver)):
                continue
            around = _own_call(event, unread.owner)
            if around is None:
                continue
            if id(around) in calls:
                return event
            calls[id(around)] = event
    return None


def _own_call(event: Event, owner: Instance) -> Scope | None:
    """The call of a network's forward in which it calls one of its layers."""
    around = forward_around(event)
    if around is None or around.bound is not owner:
        return None
    return next((scope for scope in reversed(event.scopes) if scope.kind == CALL and scope.value is around), None)


def is_built_alike(value: Value, other_value: Value) -> bool:
    """Whether two layers are of one class and were given the same."""
    if isinstance(value, Made) and isinstance(other_value, Made):
        return value.name == other_value.name and _is_given_alike(value.event, other_value.event)
    if isinstance(value, Instance) and isinstance(other_value, Instance) and value.event and other_value.event:
        return value.cls is other_value.cls and _is_given_alike(value.event, other_value.event)
    return False


def _is_given_alike(event: Event, other_event: Event) -> bool:
    if len(event.args) != len(other_event.args) or set(event.kwargs) != set(other_event.kwargs):
        return False
    pairs = [
        *zip(event.args, other_event.args, strict=True),
        *((event.kwargs[key], other_event.kwargs[key]) for key in event.kwargs),
    ]
    return all(_is_same(first, second) for first, second in pairs)


@walk(False)
def _is_same(value: Value, other_value: Value) -> bool:
    if value is other_value:
        return True
    if isinstance(value, Const) and isinstance(other_value, Const):
        return bool(value.value == other_value.value)
    if isinstance(value, Seq) and isinstance(other_value, Seq) and len(value.items) == len(other_value.items):
        return all(_is_same(first, second) for first, second in zip(value.items, other_value.items, strict=True))
    return False
