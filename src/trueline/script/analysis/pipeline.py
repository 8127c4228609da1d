"""The way of inputs in a script: from a network's first layer back to where the data is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Final

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.model.location import Location
from trueline.script.analysis.columns import batch_index, columns_of
from trueline.script.trace import BRANCH, Trace, iterated
from trueline.script.values import (
    Attribute,
    Const,
    Derived,
    Either,
    Function,
    Instance,
    Item,
    Made,
    Seq,
    Symbol,
    Table,
    Unknown,
    Value,
    ancestry,
    constant,
    options,
)
from trueline.script.walking import walk_each

# Values between a network's input and its dataset: bounds the graph, which may be cyclic.
MAX_VISITED_VALUES: Final = 400
_DRAWING: Final = functions_of(Trait.RANDOM)
# What puts several things together: behind it there is no single way.
_JOINING: Final = functions_of(Trait.JOINS, Trait.JOINS_SIDES, Trait.SELECTS)
_SCALING: Final = functions_of(Trait.DIVIDES, Trait.SUBTRACTS, Trait.STANDARDISES, Trait.SQUASHES)
_SAME_NUMBERS: Final = functions_of(Trait.SAME_ATTRIBUTE)
_CARRYING: Final = functions_of(Trait.SAME, Trait.VIEW)


@dataclass(slots=True)
class Way:
    """What an input was before it entered, nearest to the network first; and the datasets that held it on the way."""

    values: list[Value] = field(default_factory=list)
    datasets: list[Value] = field(default_factory=list)


def way_of(value: Value | None, trace: Trace, *, whole: bool = False) -> Way:
    """The way of one input; where several are computed into one, that of the first, or of all of them."""
    way = Way()
    waiting = [value] if value is not None else []
    seen: set[int] = set()
    while waiting and len(way.values) < MAX_VISITED_VALUES:
        part = waiting.pop(0)
        if id(part) in seen:
            continue
        seen.add(id(part))
        way.values.append(part)
        at = batch_index(part)
        if at is None:
            waiting.extend(_operands(part) if whole and isinstance(part, Derived) else _before(part))
            continue
        loader = iterated(at[0])
        way.datasets.extend(datasets_of(loader))
        for step in _operations(loader, at[1]):
            waiting.extend((isinstance(step, Function) and trace.returns_of(step)) or [step])
        waiting.extend(columns_of(loader, at[1], trace))
    return way


def _before(value: Value) -> Sequence[Value]:
    """What a value was before something was done to all of it."""
    if isinstance(value, Either):
        return value.options
    if isinstance(value, Item):
        return (value.of,)
    if isinstance(value, Attribute):
        return (value.of,) if value.name in _SAME_NUMBERS else ()
    if isinstance(value, Seq):
        return value.items if len(value.items) == 1 else ()
    if isinstance(value, Derived):
        return _operand(value)
    if isinstance(value, Made):
        event = value.event
        if event.method in _JOINING:
            first = event.arg(0)
            return first.items if isinstance(first, Seq) and len(first.items) == 1 else ()
        if is_drawing(value):
            return ()
        if event.receiver is not None and event.method != "__call__" and not isinstance(event.receiver, Symbol):
            return (event.receiver,)
        return event.args[:1]
    return ()


def _operands(value: Derived) -> Sequence[Value]:
    if value.op not in ("Add", "Sub", "Mult", "Div"):
        return _operand(value)
    return [part for part in value.of if not isinstance(part, Const)]


def _operand(value: Derived) -> Sequence[Value]:
    """The side of an operator that the data stands on."""
    if value.op not in ("Add", "Sub", "Mult", "Div", "FloorDiv", "Pow", "USub"):
        return ()
    data = [part for part in value.of if not isinstance(part, Const)]
    if len(data) > 1 and value.op in ("Sub", "Div", "FloorDiv", "Pow"):
        return data[:1]
    still = [part for part in data if not is_random(part)]
    return (still or data)[:1]


def is_drawing(value: Value) -> bool:
    """Whether a call draws numbers by chance."""
    return isinstance(value, Made) and value.event.method.rstrip("_") in _DRAWING


def is_random(value: Value | None) -> bool:
    """Whether it is made of numbers that are drawn."""
    return any(is_drawing(part) for part in ancestry(value, most=60))


def datasets_of(loader: Value | None) -> Iterator[Value]:
    """A loader, and the datasets in it, outermost first."""
    at = loader
    for _ in range(30):
        if isinstance(at, Item):
            at = at.of
        elif isinstance(at, Made) and at.name.startswith(("torch.utils.data.", "mindspore.dataset.")):
            yield at
            at = at.event.receiver if at.event.receiver is not None else at.event.arg(0, "dataset", "source", "data")
        else:
            break
    if isinstance(at, Instance):
        yield at


def _operations(loader: Value | None, index: object) -> Iterator[Value]:
    """What a pipeline of MindSpore does to a column, the last first."""
    at = loader
    name = _column(loader, index)
    while isinstance(at, Made) and at.event.receiver is not None:
        event = at.event
        if event.method == "map":
            columns = event.arg(1, "input_columns")
            named = [constant(value) for value in columns.items] if isinstance(columns, Seq) else [constant(columns)]
            if columns is None or name is None or name in named:
                yield from reversed(list(_flat(event.arg(0, "operations"))))
        at = event.receiver


@walk_each(Unknown("too much to follow"))
def _flat(value: Value | None) -> Iterator[Value]:
    for part in options(value):
        if isinstance(part, Seq):
            for inner in part.items:
                yield from _flat(inner)
        elif isinstance(part, Made) and part.name.endswith(".Compose"):
            yield from _flat(part.event.arg(0))
        else:
            yield part


def _column(loader: Value | None, index: object) -> str | None:
    if isinstance(index, str):
        return index
    source = next((value for value in reversed(list(datasets_of(loader))) if isinstance(value, Made)), None)
    if source is None or not isinstance(index, int):
        return None
    names = source.event.arg(1, "column_names")
    if isinstance(names, Seq) and -len(names.items) <= index < len(names.items):
        name = constant(names.items[index])
        return name if isinstance(name, str) else None
    data = source.event.arg(0, "data")
    if isinstance(data, Table) and index < len(data.items):
        return str(list(data.items)[index])
    return None


def dataset_place(way: Way) -> Location | None:
    """Where the data is put into a dataset: the innermost; of one of the project, the line that gives a sample."""
    for value in reversed(way.datasets):
        if isinstance(value, Made):
            return value.event.place
        if isinstance(value, Instance):
            return _giving(value) or value.place
    return None


def random_place(way: Way) -> Location | None:
    """The line that changes an input by chance: by numbers that are drawn, or where a draw decides."""
    for value in way.values:
        if isinstance(value, Derived) and value.op in ("Add", "Sub", "Mult", "Div") and value.place is not None:
            data = way_operand(value)
            if any(is_random(part) for part in value.of if part is not data):
                return value.place
        elif isinstance(value, Made):
            for scope in reversed(value.event.scopes):
                if scope.kind == BRANCH and is_random(scope.value):
                    return scope.place
            given = (*value.event.args[0 if value.event.receiver is not None else 1 :], *value.event.kwargs.values())
            if not is_drawing(value) and any(is_random(part) for part in given):
                return value.event.place
    return None


def way_operand(value: Derived) -> Value | None:
    """The operand that the data stands on."""
    return next(iter(_operand(value)), None)


def _giving(dataset: Instance) -> Location | None:
    for name in ("__getitem__", "__iter__", "__next__"):
        for cls in dataset.cls.lineage():
            method = cls.attributes.get(name)
            if isinstance(method, Function):
                return returning(method.node, method.module.file)
    return None


def returning(node: ast.AST, file: str) -> Location:
    """The line on which a function gives its result."""
    given = [child for child in ast.walk(node) if isinstance(child, ast.Return | ast.Yield | ast.YieldFrom)]
    return Location.of(file, given[-1] if given else node)


def enters_as_it_is(value: Value | None, trace: Trace) -> bool:
    """Whether a part of a batch reaches a layer without anything being done to its numbers."""
    for part in way_of(value, trace).values:
        if batch_index(part) is not None:
            return True
        known = isinstance(part, Item | Seq) or (isinstance(part, Made) and part.event.method in _CARRYING)
        if not known:
            return False
    return False


def place_of_step(value: Value) -> Location | None:
    """Where something is done."""
    if isinstance(value, Made):
        return value.event.place
    if isinstance(value, Function):
        return Location.of(value.module.file, value.node)
    return value.place if isinstance(value, Derived) else None


def is_scaling(value: Value) -> bool:
    """Whether something is subtracted or divided by."""
    return (isinstance(value, Derived) and value.op in ("Div", "Sub")) or is_method(value, _SCALING)


def is_method(value: Value, names: Set[str]) -> bool:
    """Whether a call of one of these gave it."""
    return isinstance(value, Made) and value.event.method in names
