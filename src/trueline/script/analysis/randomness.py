"""Random numbers in a script: where generators are made and drawn from, and with which seed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import functions_of, qualified_of
from trueline.apitable.traits import Trait
from trueline.script.trace import CALL, UNCALLED, Event, Trace
from trueline.script.values import Const, Instance, Made, Symbol, Unknown, Value, ancestry

GENERATORS: Final = qualified_of(Trait.GENERATES)
SEEDS: Final = qualified_of(Trait.SEEDS)
_SEEDED: Final = functions_of(Trait.GENERATES) | {"manual_seed"}
# Draws from what all of a process share.
_GLOBAL: Final = re.compile(r"(np|numpy)\.random\.|random\.|torch\.(rand|randn|randint|randperm|normal|bernoulli)\b")
_ORDERING: Final = functions_of(Trait.SHUFFLES, Trait.PERMUTES, Trait.SEEDS) | {"spawn", "sample"}


def happens_in(event: Event, *functions: str) -> bool:
    """Whether an event stands in a function of one of these names, or in what it calls."""
    return any(scope.kind in (CALL, UNCALLED) and scope.name.rpartition(".")[2] in functions for scope in event.scopes)


def has_fixed_seed(event: Event) -> bool:
    """Whether a generator is made, or a seed set, with a number that is the same every time."""
    given = (*event.args, *event.kwargs.values())
    if not given:
        return False
    return all(_is_fixed(value) for value in given)


def _is_fixed(value: Value) -> bool:
    for part in ancestry(value, most=200):
        if isinstance(part, Unknown | Symbol):
            return False
        if isinstance(part, Made) and not part.name.startswith("builtins."):
            return False
        if isinstance(part, Const) and part.value is None:
            return False
    return True


def is_drawn_by_seed(value: Instance) -> bool:
    """Whether an object of the project is the same each time it is built with the same arguments.

    All of them are written down, it draws from a generator that it makes from a seed of theirs, and from no other.
    """
    event = value.event
    if (
        event is None
        or event.open
        or not all(isinstance(part, Const) for part in (*event.args, *event.kwargs.values()))
    ):
        return False
    seeded = False
    for cls in value.cls.lineage():
        for node in ast.walk(cls.node):
            name = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if name.rpartition(".")[2] in _SEEDED:
                seeded = seeded or (isinstance(node, ast.Call) and bool(node.args))
            elif _GLOBAL.match(name) and "generator=" not in ast.unparse(node):
                return False
    return seeded


def seeds_generator(made: Made, trace: Trace) -> Event | None:
    """What gives a generator its seed: its own call, or ``manual_seed`` on it."""
    if made.event.args or made.event.kwargs:
        return made.event
    for event in trace.events:
        if event.method == "manual_seed" and event.receiver is made:
            return event
    return None


def drawn_from(generator: Made, trace: Trace) -> Iterator[Event]:
    """Where numbers are drawn from a generator, other than to put things in order."""
    place = generator.event.place
    for event in trace.events:
        if event.method in _ORDERING:
            continue
        given = (event.receiver, event.kwargs.get("generator"))
        if any(isinstance(value, Made) and root_of(value).event.place == place for value in given):
            yield event


def root_of(value: Made) -> Made:
    """The generator itself, before ``manual_seed`` gave it back."""
    at = value
    while at.event.method == "manual_seed" and isinstance(at.event.receiver, Made):
        at = at.event.receiver
    return at


def generators(trace: Trace) -> Iterator[Made]:
    """All generators that are made."""
    for event in trace.events:
        if event.name in GENERATORS and isinstance(event.result, Made):
            yield event.result
