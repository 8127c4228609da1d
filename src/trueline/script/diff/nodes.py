"""Values as a difference names them: their kind, what they are made from, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trueline.model.location import Location
from trueline.script.diff.difference import Node
from trueline.script.diff.events import given_to
from trueline.script.diff.naming import is_built, key_of, word_of
from trueline.script.diff.shapes import operation_of
from trueline.script.trace import Event
from trueline.script.values import (
    Attribute,
    Const,
    Derived,
    Instance,
    Item,
    Made,
    Seq,
    Symbol,
    Table,
    Value,
)
from trueline.script.walking import walk

# Characters of a list that a sentence shows.
MAX_SHOWN_CHARACTERS: Final = 120


def kind_of(value: Value) -> str:
    return key_of(value.event) if isinstance(value, Made) else "of the project"


def is_several(value: Value) -> bool:
    return isinstance(value, Seq) and value.kind == "tuple"


def inputs_of(value: Value) -> Sequence[Value]:
    """What an operation is done to; not the objects that do it."""
    operation = operation_of(value)
    if operation is not None:
        return operation[1]
    if isinstance(value, Made):
        if is_built(value.event):
            return ()
        return given_to(value.event) if not value.event.name.endswith(".__call__") else value.event.args
    if isinstance(value, Item | Attribute):
        return (value.of,)
    return ()


def event_of(value: Value | None) -> Event | None:
    return value.event if isinstance(value, Made) else None


def is_object(value: Value) -> bool:
    return isinstance(value, Instance) or (isinstance(value, Made) and is_built(value.event))


def node_of(value: Value | None, event: Event | None) -> Node:
    made = event_of(value)
    operation = operation_of(value)
    if operation is not None:
        name = operation[0]
    elif made is not None:
        name = word_of(made.name)
    elif isinstance(value, Item):
        name = "index"
    else:
        name = shown(value)
    place = place_of(value) or (event.place if event is not None else None)
    return Node(name, value, made, place)


@walk(None)
def place_of(value: Value | None) -> Location | None:
    """Where a value is made or written down."""
    if value is None:
        return None
    if isinstance(value, Made):
        layer = value.event.receiver
        # A layer of a chain stands where it was built.
        return layer.event.place if value.event.in_chain and isinstance(layer, Made) else value.event.place
    if isinstance(value, Derived):
        return value.place
    if isinstance(value, Const):
        return value.origin
    if isinstance(value, Instance):
        return value.place
    if isinstance(value, Table):
        return value.place
    if isinstance(value, Item):
        return place_of(value.index) or place_of(value.of)
    return next((place for part in value.parts() if (place := place_of(part)) is not None), None)


@walk("…")
def shown(value: Value | None) -> str:
    """A value in a few characters."""
    if isinstance(value, Const):
        return f"{value.value:g}" if isinstance(value.value, float) else str(value.value)
    if isinstance(value, Symbol):
        return value.name
    if isinstance(value, Made):
        return word_of(value.name)
    if isinstance(value, Derived):
        return value.op
    if isinstance(value, Seq):
        listed = ", ".join(shown(item) for item in value.items[:4])
        return f"[{listed}]" if len(listed) <= MAX_SHOWN_CHARACTERS else f"[{listed[:MAX_SHOWN_CHARACTERS]}…]"
    return ""
