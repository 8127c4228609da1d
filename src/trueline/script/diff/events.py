"""What counts of an event in a comparison: what it does, how often, and what is given to it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from trueline.apitable.functions import stems_of, words_of
from trueline.apitable.traits import Trait
from trueline.script.diff.naming import is_built, word_of
from trueline.script.roles import Role, is_network
from trueline.script.script import Script
from trueline.script.trace import BRANCH, LOOP, Event, Scope
from trueline.script.values import (
    Const,
    Derived,
    Function,
    Instance,
    Made,
    Seq,
    Symbol,
    Table,
    Unknown,
    Value,
    ancestry,
)
from trueline.script.walking import taken_apart

_EFFECTS: Final = words_of(
    Trait.ACTS, Trait.WRITES, Trait.ASSIGNS, Trait.ASSIGNS_SUM, Trait.FILLS_IN_PLACE, Trait.FREEZES, Trait.SEEDS
) | {"__setitem__", "__setattr__", "repeated"}
_LIGHT: Final = tuple(
    stem.lower()
    for stem in stems_of(
        Trait.ACTIVATION, Trait.SIGMOID, Trait.SOFTMAX, Trait.DROPOUT, Trait.POOL, Trait.VIEW, Trait.PASSES_THROUGH
    )
)


def has_effect(event: Event) -> bool:
    """Whether an event does something, so that it counts even if nothing takes its result."""
    own = event.method.endswith("_") and not event.method.startswith("_")
    return event.role in DOING or word_of(event.name) in _EFFECTS or own


DOING: Final = frozenset(
    (Role.ZERO_GRAD, Role.STEP, Role.SCALER_STEP, Role.SCALER_UPDATE, Role.SCHEDULER_STEP, Role.UNSCALE, Role.CLIP,
     Role.TRAIN_MODE, Role.EVAL_MODE)
)  # fmt: skip


def is_layer(event: Event) -> bool:
    return is_built(event) and isinstance(event.result, Made) and is_network(event.result) and not event.open


def numbers_in(event: Event) -> list[Value]:
    """What is said besides words, in order."""
    said = taken_apart(*event.args, *event.kwargs.values(), parts=_said_in)
    return [value for value in said if not isinstance(value, Const | Unknown | Symbol)]


def _said_in(value: Value) -> Sequence[Value] | None:
    return value.parts() if _is_text(value) or isinstance(value, Seq | Table) else None


ORDERED: Final = (
    (Role.EVAL_MODE, Role.FORWARD),
    (Role.ZERO_GRAD, Role.BACKWARD),
    (Role.STEP, Role.SCHEDULER_STEP),
    (Role.UNSCALE, Role.CLIP),
)


def rounds(event: Event) -> list[Scope]:
    return [scope for scope in event.scopes if scope.kind == LOOP and scope.name != "comprehension"]


def _is_text(value: Value) -> bool:
    if isinstance(value, Made):
        return word_of(value.name) in words_of(Trait.FORMATS)
    return isinstance(value, Derived) and value.op == "text"


def given_to(event: Event) -> list[Value]:
    owner = [event.receiver] if event.receiver is not None else []
    return [*owner, *event.args, *event.kwargs.values()]


def unused_layers(script: Script) -> list[Event]:
    """Where layers are kept that nothing is done with."""
    used: set[int] = set()
    kept: list[Event] = []
    for event in script.trace.events:
        is_kept = event.method == "__setattr__" and len(event.args) > 1 and is_network(event.args[1])
        if is_kept and has_weights(event.args[1]):
            kept.append(event)
        if not is_kept and event.receiver is not None:
            used.add(id(event.receiver))
        if not is_kept:
            used.update(id(value) for value in ancestry(*event.args, *event.kwargs.values(), most=30))
    return [event for event in kept if id(event.args[1]) not in used]


def kept_as(event: Event) -> str:
    return str(event.args[0].value) if isinstance(event.args[0], Const) else ""


def kept_names(script: Script) -> set[str]:
    return {kept_as(event) for event in script.trace.events if event.method == "__setattr__" and event.args}


def is_read_inside(event: Event) -> bool:
    """Whether what a call does was read as well, so that its arguments are met again inside."""
    return event.name.endswith(".__call__") and not (isinstance(event.result, Made) and event.result.event is event)


def style_of(event: Event) -> str:
    if event.name.endswith(".__call__"):
        return "called"
    return "method" if event.receiver is not None else "function"


def branches(event: Event) -> list[Scope]:
    return [scope for scope in event.scopes if scope.kind == BRANCH]


def functions_of(script: Script) -> dict[str, Function]:
    """The project's functions by their names, those with a name of their own."""
    functions: dict[str, Function | None] = {}
    for event in script.trace.events:
        for scope in event.scopes:
            function = scope.value
            if isinstance(function, Function) and not isinstance(function.node, ast.Lambda):
                known = functions.get(function.name, function)
                functions[function.name] = function if known is not None and known.node is function.node else None
    return {name: function for name, function in functions.items() if function is not None}


def has_weights(value: Value) -> bool:
    if isinstance(value, Instance):
        return is_network(value)
    return is_network(value) and isinstance(value, Made) and not any(stem in word_of(value.name) for stem in _LIGHT)
