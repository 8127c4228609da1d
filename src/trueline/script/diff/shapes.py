"""What a value is made of, as a number that is the same for values made alike: names and places do not count."""

from __future__ import annotations

from typing import Final

from trueline.apitable.functions import places
from trueline.model.location import Location
from trueline.script.diff.naming import OPERATORS, input_of, is_through, key_of, word_of
from trueline.script.diff.signatures import named_arguments
from trueline.script.trace import Event
from trueline.script.values import (
    Attribute,
    Class,
    Const,
    Derived,
    Either,
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
    written_range,
)

# Operations inside of one another: bounds a graph of values that is cyclic.
MAX_DEPTH: Final = 120
_EITHER_WAY: Final = frozenset(("Add", "Mult", "BitAnd", "BitOr", "Eq", "NotEq", "And", "Or"))


def plain(value: Value | None) -> Value | None:
    """A value without what only moves, casts or wraps it."""
    for _ in range(MAX_DEPTH):
        if isinstance(value, Made) and is_through(value.event):
            within = input_of(value.event)
            if within is None:
                break
            value = within
        elif isinstance(value, Seq) and value.kind != "generator" and len(value.items) == 1 and not value.open:
            break
        else:
            break
    return value


def operation_of(value: Value | None) -> tuple[str, tuple[Value, ...], Location | None] | None:
    """An operator with its operands, also where it is written as a function or method."""
    if isinstance(value, Derived):
        return value.op, value.of, value.place
    if isinstance(value, Made):
        op = OPERATORS.get(word_of(value.name))
        if op is not None and not value.event.name.endswith(".__call__"):
            before = (value.event.receiver,) if value.event.receiver is not None else ()
            return op, (*before, *value.event.args), value.event.place
    return None


def commutes(op: str) -> bool:
    """Whether the order of the operands does not matter."""
    return op in _EITHER_WAY


def arguments_of(event: Event) -> dict[str, Value]:
    """What goes into an event, by name where the names are known; a method's owner is its first argument."""
    named = named_arguments(event)
    if named is not None:
        return named
    args = list(event.args)
    if event.receiver is not None and not event.name.endswith(".__call__"):
        args.insert(0, event.receiver)
    counted = _counted(event)
    if counted is not None:
        return {"count": counted}
    # Of methods and functions of tensors it is the same by place and by name; their own value comes first.
    names = places().get(word_of(event.name), ()) if not event.name.endswith(".__call__") else ()
    placed = {names[at] if at < len(names) else str(at): value for at, value in enumerate(args)}
    return placed | {_SAME_NAMES.get(name, name): value for name, value in event.kwargs.items()}


_SAME_NAMES: Final = {
    "axis": "dim",
    "keepdims": "keepdim",
    "dims": "dim",
    "split_size_or_sections": "size",
    "shift": "shifts",
}


def _counted(event: Event) -> Const | None:
    """How often a range goes round; where it begins does not matter."""
    if event.name != "builtins.range" or not event.args:
        return None
    bounds = [plain(value) for value in event.args]
    if (counted := written_range(bounds)) is None:
        return None
    written = next((value.origin for value in reversed(bounds[:2]) if isinstance(value, Const)), None)
    return Const(len(counted), written)


class Shapes:
    """Remembers the shapes of values."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}
        self._held: list[Value] = []
        self._of_events: dict[int, int] = {}

    def of(self, value: Value | None, depth: int = 0) -> int:
        """The shape of a value; what is too deep is like anything."""
        value = plain(value)
        if value is None or depth > MAX_DEPTH:
            return 0
        shape = self._known.get(id(value))
        if shape is None:
            # What is being looked at already holds itself.
            self._known[id(value)] = 1
            self._held.append(value)
            shape = hash(self._made(value, depth + 1))
            self._known[id(value)] = shape
        return shape

    def of_event(self, event: Event) -> int:
        """The shape of what happens: what is called, and what goes in."""
        shape = self._of_events.get(id(event))
        if shape is None:
            self._of_events[id(event)] = 1
            shape = hash(self._event(event, 0))
            self._of_events[id(event)] = shape
        return shape

    def _event(self, event: Event, depth: int) -> tuple[object, ...]:
        given = tuple(sorted((name, self.of(value, depth)) for name, value in arguments_of(event).items()))
        owner = self.of(event.receiver, depth) if event.name.endswith(".__call__") else 0
        return key_of(event), given, owner

    def _made(self, value: Value, depth: int) -> object:
        operation = operation_of(value)
        if operation is not None:
            op, operands, _ = operation
            parts = [self.of(operand, depth) for operand in operands]
            return op, tuple(sorted(parts) if commutes(op) else parts)
        match value:
            case Const():
                number = isinstance(value.value, int | float) and not isinstance(value.value, bool)
                return "const", f"{float(value.value):.9g}" if number and abs(value.value) < 1e300 else repr(
                    value.value
                )
            case Symbol():
                return "symbol", value.name.rpartition(".")[2]
            case Made():
                return "made", self._event(value.event, depth)
            case Attribute():
                return "attribute", value.name, self.of(value.of, depth)
            case Item():
                return "item", self.of(value.of, depth), self.of(value.index, depth)
            case Seq():
                return "seq", tuple(self.of(part, depth) for part in (*value.items, *value.tests))
            case Table():
                return "table", tuple(sorted((str(name), self.of(part, depth)) for name, part in value.items.items()))
            case Either():
                return "either", tuple(sorted(self.of(option, depth) for option in value.options))
            case Instance():
                return (
                    "instance",
                    next(value.cls.library_bases(), ""),
                    tuple(self.of(part, depth) for part in value.parts()),
                )
            case Function() | Class():
                return "code"
            case Partial():
                return "partial", value.how, self.of(value.function, depth)
            case Unknown():
                return "unknown", tuple(self.of(part, depth) for part in value.of)
        return type(value).__name__
