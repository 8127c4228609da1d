"""What a loop's variable stands for."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

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
)

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


def element_of(reader: Expressions, value: Value, node: ast.AST) -> Value:
    """One of what is iterated over."""
    match value:
        case Seq():
            return either(*value.items) if value.items else Item(value)
        case Table():
            keys = [Const(one) for one in value.items if isinstance(one, str | int)]
            return either(*keys) if keys and not value.open else Unknown("key", (value,))
        case Either():
            return either(*(element_of(reader, one, node) for one in value.options))
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
        return Seq("tuple", [element_of(reader, one, node) for one in args])
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
