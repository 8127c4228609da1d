"""Python's own functions and containers."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from trueline.model.location import Location
from trueline.script.reading.elements import element_of
from trueline.script.reading.known import (
    NotDecidedError,
    affords_new,
    converted,
    extend,
    new_sequence,
    sequence,
    table,
    text_method,
    update,
    words,
)
from trueline.script.roles import is_network
from trueline.script.trace import Event
from trueline.script.values import (
    Class,
    Const,
    Function,
    Instance,
    Item,
    Made,
    Partial,
    Seq,
    Symbol,
    Table,
    Unknown,
    Value,
    either,
)

if TYPE_CHECKING:
    from trueline.script.reading.calling import Calling


def _converted(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del node
    value = event.arg(0)
    kind: Any = {"int": int, "float": float, "str": str, "bool": bool, "abs": abs}[event.method]
    # int("10", 16) is another number than int("10").
    if isinstance(value, Const) and isinstance(value.value, str | int | float | bool) and len(event.args) == 1:
        try:
            return Const(converted(reader.machine, kind, value.value), value.origin)
        except NotDecidedError:
            return Unknown(event.method)
    return None


def _sequence(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    value = event.arg(0)
    if value is None:
        return Seq(event.method, [])
    if isinstance(value, Seq):
        return sequence(reader.machine, event.method, value.items, is_open=value.open)
    if isinstance(value, Table):
        keys = new_sequence(reader.machine, event.method, map(Const, value.items), len(value.items))
        keys.open = keys.open or value.open
        return keys
    del node
    return None


def _dict(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    first = event.arg(0)
    is_open = first is not None and (not isinstance(first, Table) or first.open)
    value = table(reader.machine, first.items if isinstance(first, Table) else {}, is_open=is_open or event.open)
    value.place = event.place
    if isinstance(first, Made):
        # Pairs, as of named_parameters(): what is there under any name is the second of each.
        pair = element_of(reader, first, node)
        value.items["*"] = pair.items[1] if isinstance(pair, Seq) and len(pair.items) == 2 else Item(pair, Const(1))
    update(reader.machine, value, event.kwargs)
    return value


def _length(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    value = event.arg(0)
    if isinstance(value, Seq | Table) and not value.open:
        return Const(len(value.items))
    if isinstance(value, Instance):
        length = reader.attribute(value, "__len__", node)
        if isinstance(length, Function):
            return reader.call(length, (), {}, node)
    return None


def _getattr(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    owner, name = event.arg(0), event.arg(1)
    if owner is None:
        return None
    if isinstance(name, Const) and isinstance(name.value, str):
        return reader.attribute(owner, name.value, node)
    if isinstance(owner, Symbol):
        # One of a library's things, chosen by a name that is not known.
        return Unknown("getattr", (owner,))
    return None


def _setattr(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    owner, name, value = event.arg(0), event.arg(1), event.arg(2)
    del reader, node
    if isinstance(owner, Instance) and value is not None:
        # Under a name that is not known it is still there.
        owner.attributes[str(name.value) if isinstance(name, Const) else f"*{len(owner.attributes)}"] = value
    return Const(None)


def _vars(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del node
    value = event.arg(0)
    if isinstance(value, Table):
        return value
    return table(reader.machine, value.attributes) if isinstance(value, Instance) else None


def _namespace(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del node
    first = event.arg(0)
    held = first.items if isinstance(first, Table) else {}
    return table(reader.machine, held, event.kwargs, is_open=event.open)


def _mapped(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    function, over = event.arg(0), event.arg(1)
    if function is None or over is None:
        return None
    return Seq("list", [reader.call(function, (element_of(reader, over, node),), {}, node)], True)


def _next(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    value = event.arg(0)
    return element_of(reader, value, node) if value is not None else None


def _partial(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del reader, node
    if not event.args:
        return None
    return Partial("partial", event.args[0], event.args[1:], dict(event.kwargs), event)


def _type(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del reader, node
    value = event.arg(0)
    if isinstance(value, Made) and is_network(value):
        return Symbol(value.name)
    return value.cls if isinstance(value, Instance) and len(event.args) == 1 else None


def _extreme(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del reader, node
    values = [value.value for value in event.args if isinstance(value, Const)]
    if len(values) == len(event.args) > 1 and all(isinstance(value, int | float) for value in values):
        return Const(min(values) if event.method == "min" else max(values))
    return None


def _append(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del node
    room, value = event.receiver, event.arg(0 if event.method != "insert" else 1)
    if not isinstance(room, Seq) or value is None:
        return None
    if reader.machine.in_loop():
        room.open = True
    if event.method == "extend":
        extend(reader.machine, room, value.items if isinstance(value, Seq) else ())
        room.open = room.open or not isinstance(value, Seq) or value.open
    else:
        reader.machine.take_down_repeated(value, event.place)
        extend(reader.machine, room, [value])
    return Const(None)


def _get(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del reader, node
    room, name = event.receiver, event.arg(0)
    if not isinstance(room, Table) or not isinstance(name, Const):
        return None
    default = event.arg(1, "default") or Const(None)
    value = room.items.get(name.value)
    if value is not None:
        if event.method == "pop":
            del room.items[name.value]
        return value
    if event.method == "setdefault":
        room.items[name.value] = default
    return either(default, Unknown("get", (room,))) if room.open else default


def _update(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del node
    room, value = event.receiver, event.arg(0)
    if not isinstance(room, Table):
        return None
    if isinstance(value, Table):
        update(reader.machine, room, value.items)
    room.open = room.open or event.open or (value is not None and (not isinstance(value, Table) or value.open))
    update(reader.machine, room, event.kwargs)
    return Const(None)


def _copy(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del node
    room = event.receiver if event.receiver is not None else event.arg(0)
    if isinstance(room, Table):
        return table(reader.machine, room.items, is_open=room.open)
    return sequence(reader.machine, room.kind, room.items, is_open=room.open) if isinstance(room, Seq) else None


def _deepcopied(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    value = event.arg(0)
    return _twin(reader, value, event, reader.machine.place(node), {}) if value is not None else None


def _twin(reader: Calling, value: Value, event: Event, place: Location, done: dict[int, Value]) -> Value:
    """The same again, with all that is in it: what the copy has is no longer what the original has."""
    if id(value) in done:
        return done[id(value)]
    if not affords_new(reader.machine, 1 + len(value.parts())):
        return Unknown("copy", (value,))
    reader.machine.spend(1 + len(value.parts()))
    if isinstance(value, Instance):
        twin = Instance(value.cls, place, {}, event)
        done[id(value)] = twin
        twin.attributes.update(
            {name: _twin(reader, part, event, place, done) for name, part in value.attributes.items()}
        )
        return twin
    if isinstance(value, Made) and value.is_object:
        own = value.event
        # What is in the copy is as it was built; the copy itself is made here.
        at = own.place if done else event.place
        args = tuple(_twin(reader, part, event, place, done) for part in own.args)
        kwargs = {name: _twin(reader, part, event, place, done) for name, part in own.kwargs.items()}
        copied = Event(own.name, at, args, kwargs, own.receiver, event.scopes, event.index, own.role)
        done[id(value)] = copied.result = Made(copied)
        return copied.result
    if isinstance(value, Seq):
        # A list may be in itself, and in many others.
        done[id(value)] = listed = Seq(value.kind, [], value.open)
        listed.items.extend([_twin(reader, part, event, place, done) for part in value.items])
        return listed
    if isinstance(value, Table):
        done[id(value)] = named = Table({}, value.open)
        named.items.update({name: _twin(reader, part, event, place, done) for name, part in value.items.items()})
        return named
    return value


def _replaced(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    """``dataclasses.replace``."""
    first = event.arg(0)
    if not isinstance(first, Instance):
        return None
    held = table(reader.machine, first.attributes, event.kwargs).items
    instance = Instance(first.cls, reader.machine.place(node), held, first.event)
    reader.machine.add_instance(instance)
    return instance


def _asdict(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del node
    first = event.arg(0)
    return table(reader.machine, first.attributes) if isinstance(first, Instance) else None


def _text(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del node
    text = event.receiver
    given = [word.value for word in event.args if isinstance(word, Const)]
    if not isinstance(text, Const) or not isinstance(text.value, str) or len(given) < len(event.args):
        return None
    try:
        if event.method == "split":
            return Seq("list", [Const(word) for word in words(reader.machine, text.value)]) if not event.args else None
        origin = text.origin if event.method in ("lower", "upper", "strip", "title") else None
        return Const(text_method(reader.machine, text.value, event.method, given), origin)
    except NotDecidedError:
        return None


def _isinstance(reader: Calling, event: Event, node: ast.AST) -> Value | None:
    del reader, node
    value, kind = event.arg(0), event.arg(1)
    kinds = kind.items if isinstance(kind, Seq) else [kind]
    answers = {_is_of_kind(value, part) for part in kinds}
    if True in answers:
        return Const(True)
    return Const(False) if answers == {False} else None


def _is_of_kind(value: Value | None, kind: Value | None) -> bool | None:
    if isinstance(value, Instance) and isinstance(kind, Class):
        return kind in list(value.cls.lineage())
    if not is_network(value) or not isinstance(kind, Symbol | Class):
        return None
    if isinstance(value, Made) and isinstance(kind, Symbol):
        if value.name == kind.name or kind.name.rpartition(".")[2] in ("Module", "Cell"):
            return True
        # The hidden bases of layers, as _BatchNorm and _ConvNd.
        last = kind.name.rpartition(".")[2]
        return last.strip("_").removesuffix("Nd") in value.name if last.startswith("_") else False
    if isinstance(value, Instance) and isinstance(kind, Symbol):
        return kind.name in set(value.cls.library_bases()) or kind.name.rpartition(".")[2] in ("Module", "Cell")
    return False


BY_NAME: Final = {
    **dict.fromkeys((f"builtins.{name}" for name in ("int", "float", "str", "bool", "abs")), _converted),
    **dict.fromkeys((f"builtins.{name}" for name in ("list", "tuple", "set")), _sequence),
    "builtins.dict": _dict,
    "builtins.len": _length,
    "builtins.getattr": _getattr,
    "builtins.setattr": _setattr,
    "builtins.vars": _vars,
    "builtins.map": _mapped,
    "builtins.next": _next,
    "builtins.type": _type,
    "builtins.min": _extreme,
    "builtins.max": _extreme,
    "builtins.isinstance": _isinstance,
    "types.SimpleNamespace": _namespace,
    "argparse.Namespace": _namespace,
    "functools.partial": _partial,
    "dataclasses.replace": _replaced,
    "dataclasses.asdict": _asdict,
    "copy.copy": _copy,
    "copy.deepcopy": _deepcopied,
}
BY_METHOD: Final = {
    "append": _append,
    "extend": _append,
    "insert": _append,
    "get": _get,
    "pop": _get,
    "setdefault": _get,
    "update": _update,
    "copy": _copy,
    **dict.fromkeys(("lower", "upper", "strip", "title", "split", "find", "startswith", "endswith", "count"), _text),
}
