"""What a loop's variable stands for."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from trueline.script.reading.known import sequence
from trueline.script.roles import is_network
from trueline.script.values import (
    Const,
    Either,
    Function,
    Instance,
    Item,
    Made,
    Partial,
    Seq,
    Table,
    Unknown,
    Value,
    either,
    options,
)
from trueline.script.walking import walk

if TYPE_CHECKING:
    from trueline.script.reading.expressions import Expressions

_SAME: Final = frozenset(
    (
        "tqdm",
        "iter",
        "islice",
        "list",
        "tuple",
        "sorted",
        "reversed",
        "cycle",
        "track",
        "chain",
        "ModuleList",
        "CellList",
    )
)


# Containers of layers; they may be gone through, indexed, and added to.
_CONTAINERS: Final = frozenset(("Sequential", "SequentialCell", "ModuleList", "CellList", "ModuleDict", "CellDict"))


def layers_in(value: Value | None) -> tuple[list[Value], bool] | None:
    """The layers in a container of a framework, and whether there may be more; None where it is none."""
    if isinstance(value, Instance):
        held = value.attributes.get(HELD_LAYERS)
        if not isinstance(held, Seq):
            return None
        # A chain of the project's own also has the layers that it was given as attributes.
        named = [part for name, part in value.attributes.items() if name != HELD_LAYERS and is_network(part)]
        return [*held.items, *named], held.open
    if not isinstance(value, Made) or value.name.rpartition(".")[2] not in _CONTAINERS:
        return None
    return _unwrapped(value.event.args, value.event.open)


# Where an object of a class made from a container keeps the layers it was given.
HELD_LAYERS: Final = "*layers"


def _unwrapped(args: Sequence[Value], is_open: bool) -> tuple[list[Value], bool]:
    only = args[0] if len(args) == 1 else None
    if isinstance(only, Seq):
        return list(only.items), only.open or is_open
    if isinstance(only, Table):
        return list(only.items.values()), only.open or is_open
    if isinstance(only, Made) and only.name.endswith("OrderedDict"):
        inner = only.event.arg(0)
        pairs = inner.items if isinstance(inner, Seq) else []
        return [value.items[1] for value in pairs if isinstance(value, Seq) and len(value.items) == 2], is_open
    return list(args), is_open


def registered_in(network: Value) -> Iterator[Value]:
    """A network and those that it knows as its own: its attributes and what is in containers of the framework."""
    waiting: list[Value] = [network]
    seen: set[int] = set()
    while waiting and len(seen) < 4000:
        part = waiting.pop(0)
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        held = layers_in(part)
        if held is not None:
            waiting.extend(_networks(*held[0]))
        if isinstance(part, Instance):
            waiting.extend(_networks(*(value for name, value in part.attributes.items() if name != HELD_LAYERS)))
        elif isinstance(part, Made):
            waiting.extend(_networks(*part.parts()))


def _networks(*values: Value) -> Iterator[Value]:
    return (option for value in values for option in options(value) if is_network(option))


def hold_layers(reader: Expressions, value: Value | None, added: Sequence[Value], *, more: bool) -> bool:
    """Put layers into a container; whether it is one."""
    held = layers_in(value)
    if held is None:
        return False
    is_open = held[1] or more
    if isinstance(value, Instance):
        own = value.attributes[HELD_LAYERS]
        before = own.items if isinstance(own, Seq) else []
        value.attributes[HELD_LAYERS] = sequence(reader.machine, "list", before, added, is_open=is_open)
    elif isinstance(value, Made):
        value.event.args = (sequence(reader.machine, "list", held[0], added, is_open=is_open),)
    return True


def layer_at(value: Value, index: Value) -> Value | None:
    """The layer at an index of a container; None where that cannot be told."""
    held = layers_in(value)
    if held is None or not isinstance(index, Const):
        return None
    only = value.event.args[0] if isinstance(value, Made) and len(value.event.args) == 1 else None
    if isinstance(only, Table):
        return only.items.get(index.value)
    layers, is_open = held
    at = index.value
    if isinstance(at, int) and -len(layers) <= at < len(layers) and (at >= 0 or not is_open):
        return layers[at]
    return None


@walk(Unknown("too much to follow"))
def element_of(reader: Expressions, value: Value, node: ast.AST) -> Value:
    """One of what is iterated over."""
    match value:
        case Seq():
            return either(*value.items) if value.items else Item(value)
        case Table():
            keys = [Const(name) for name in value.items if isinstance(name, str | int)]
            return either(*keys) if keys and not value.open else Unknown("key", (value,))
        case Either():
            return either(*(element_of(reader, name, node) for name in value.options))
        case Made():
            return _of_made(reader, value, node)
        case Instance():
            return _of_instance(reader, value, node)
        case Const() if isinstance(value.value, str):
            return Unknown("character", (value,))
    return Item(value)


def _of_made(reader: Expressions, value: Made, node: ast.AST) -> Value:
    last = value.name.rpartition(".")[2]
    args = value.event.args
    if last == "enumerate" and args:
        return Seq("tuple", [Unknown("index"), element_of(reader, args[0], node)])
    if last == "zip":
        return Seq("tuple", [element_of(reader, part, node) for part in args])
    if last in _SAME and args:
        return element_of(reader, args[0], node)
    if last == "items" and isinstance(value.event.receiver, Table):
        table = value.event.receiver
        values = list(table.items.values())
        return Seq("tuple", [Unknown("key", (table,)), either(*values) if values else Unknown("value", (table,))])
    if last == "values" and isinstance(value.event.receiver, Table) and value.event.receiver.items:
        return either(*value.event.receiver.items.values())
    if last == "range":
        return Unknown("number", (value,))
    return Item(value)


def _of_instance(reader: Expressions, value: Instance, node: ast.AST) -> Value:
    iterate = reader.attribute(value, "__iter__", node)
    if isinstance(iterate, Function):
        given = reader.call(iterate, (), {}, node)
        if isinstance(given, Seq | Made | Partial):
            return Item(value) if _is_itself(given, value) else element_of(reader, given, node)
    return Item(value)


def _is_itself(given: Value, value: Value) -> bool:
    return given is value or (isinstance(given, Seq) and not given.items)
