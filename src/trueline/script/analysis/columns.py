"""Columns of batches in a script: which part of a dataset the second thing in a batch is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import classes_of, functions_of, stems_of
from trueline.apitable.traits import Trait
from trueline.script.trace import Event, Trace, iterated
from trueline.script.values import (
    Attribute,
    Const,
    Derived,
    Function,
    Instance,
    Item,
    Made,
    Seq,
    Table,
    Value,
    ancestry,
    constant,
    options,
    written_range,
)
from trueline.script.walking import walk, walk_each


def batch_index(value: Value | None) -> tuple[Value, object] | None:
    """The loader that a value comes from as an element of its batches, and the place or name of it there."""
    if isinstance(value, Item) and isinstance(value.index, Const) and isinstance(value.of, Item):
        inner = value.of
        if inner.index is None:
            return inner.of, value.index.value
    if isinstance(value, Attribute) and isinstance(value.of, Item) and value.of.index is None:
        # What MindSpore's Model takes from a batch.
        return value.of.of, {"data": 0, "label": 1}.get(value.name, value.name)
    return None


def passed(event: Event, function: Function) -> dict[str, Value]:
    """What each parameter of a method is given by a call of its object."""
    names = [argument.arg for argument in function.node.args.args][1:]
    given = dict(zip(names, event.args, strict=False))
    several, named = event.kwargs.get("*"), event.kwargs.get("**")
    if isinstance(several, Derived) and isinstance(several.of[1], Const):
        for at, name in enumerate(names[several.of[1].value :]):
            given.setdefault(name, Item(several.of[0], Const(at)))
    if named is not None:
        for name in names:
            given.setdefault(name, Item(named, Const(name)))
    return given | {name: value for name, value in event.kwargs.items() if not name.startswith("*")}


def columns_of(loader: Value | None, index: object, trace: Trace) -> Iterator[Value]:
    """What a loader's dataset, or its collate function, puts at a place of a batch."""
    for value in options(iterated(loader)):
        yield from _columns(value, index, trace)


@walk_each()
def _columns(value: Value, index: object, trace: Trace) -> Iterator[Value]:
    if isinstance(value, Made):
        event = value.event
        collate = event.arg(6, "collate_fn") if value.name == "torch.utils.data.DataLoader" else None
        if event.method == "batch" and collate is None:
            collate = event.arg(None, "per_batch_map")
        returned = list(_returned(collate, trace))
        if returned:
            for part in returned:
                yield from _at(part, index)
        elif value.name == "torch.utils.data.TensorDataset":
            yield from _at(Seq("tuple", list(event.args)), index)
        elif value.name in ("mindspore.dataset.NumpySlicesDataset", "mindspore.dataset.GeneratorDataset"):
            first = event.arg(0, "data", "source")
            if isinstance(first, Seq | Table):
                yield from _at(first, index)
            elif first is not None:
                yield from _columns(first, index, trace)
        elif value.name.startswith(("torch.utils.data.", "mindspore.dataset.")):
            inner = event.receiver if event.receiver is not None else event.arg(0, "dataset")
            if inner is not None:
                yield from _columns(inner, index, trace)
    elif isinstance(value, Instance):
        own = trace.samples_of(value)
        for part in own:
            yield from _at(part.items[0] if isinstance(part, Seq) and part.kind == "generator" else part, index)
        if own:
            return
        for name in ("__getitem__", "__iter__", "__next__"):
            method = next((cls.attributes[name] for cls in value.cls.lineage() if name in cls.attributes), None)
            if isinstance(method, Function):
                for part in trace.returns_of(method):
                    yield from _at(part.items[0] if isinstance(part, Seq) and part.kind == "generator" else part, index)
                return
    elif isinstance(value, Item):
        # A part of a split.
        yield from _columns(value.of, index, trace)


def _returned(function: Value | None, trace: Trace) -> Iterator[Value]:
    for value in options(function):
        if isinstance(value, Function):
            yield from trace.returns_of(value)
        elif isinstance(value, Instance):
            method = next(
                (cls.attributes["__call__"] for cls in value.cls.lineage() if "__call__" in cls.attributes), None
            )
            if isinstance(method, Function):
                yield from trace.returns_of(method)


def _at(value: Value, index: object) -> Iterator[Value]:
    for part in options(value):
        held = list(part.items.values()) if isinstance(part, Table) else part.items if isinstance(part, Seq) else []
        if isinstance(part, Table) and index in part.items:
            yield part.items[index]
        elif isinstance(index, int) and -len(held) <= index < len(held):
            yield held[index]


def with_indexes(value: Value | None, most: int = 2000) -> Iterator[Value]:
    """What a value was made from, and what its elements were chosen by."""
    waiting = [value] if value is not None else []
    seen: set[int] = set()
    while waiting and len(seen) < most:
        for part in ancestry(waiting.pop(), most=most):
            if id(part) not in seen:
                seen.add(id(part))
                yield part
                if isinstance(part, Item) and part.index is not None:
                    waiting.append(part.index)


_SAME: Final = functions_of(Trait.SAME, Trait.VIEW)


def plain(value: Value | None) -> Value | None:
    """A value without what only changes its type or its shape."""
    for _ in range(30):
        if isinstance(value, Made) and value.event.method in _SAME:
            event = value.event
            value = (
                event.receiver
                if event.receiver is not None and not event.name.startswith("numpy.int")
                else event.arg(0)
            )
        else:
            break
    return value


@walk(None)
def range_of(value: Value | None) -> tuple[int, int] | None:
    """The smallest and largest of whole numbers, where a script says how they are drawn."""
    value = plain(value)
    if value is None:
        return None
    if isinstance(value, Derived) and len(value.of) == 2:
        left, right = value.of
        number = constant(right)
        if value.op == "Mod" and isinstance(number, int) and number > 0:
            inner = range_of(left)
            return (0, number - 1) if inner is None or inner[1] >= number - 1 else (max(0, inner[0]), inner[1])
        if value.op in ("Add", "Sub") and isinstance(number, int):
            inner = range_of(left)
            by = number if value.op == "Add" else -number
            return (inner[0] + by, inner[1] + by) if inner is not None else None
        if value.op in ("Gt", "Lt", "GtE", "LtE", "Eq", "NotEq", "BitXor"):
            return 0, 1
    if isinstance(value, Made):
        return _drawn(value)
    if isinstance(value, Item) and (isinstance(value.index, Derived | Made | Item | Seq) or _is_array(value.of)):
        return range_of(value.of)
    return None


def _is_array(value: Value) -> bool:
    return isinstance(plain(value), Made | Derived)


def _drawn(value: Made) -> tuple[int, int] | None:
    event, last = value.event, value.event.method
    if last in ("randint", "integers"):
        low, high = constant(event.arg(0, "low")), constant(event.arg(1, "high"))
        if not isinstance(high, int):
            low, high = 0, low
        if isinstance(low, int) and isinstance(high, int):
            return low, high - (0 if event.name.startswith("random.") or "endpoint" in event.kwargs else 1)
    if last == "arange":
        inside = written_range(event.args)
        if inside:
            return min(inside), max(inside)
    if last in functions_of(Trait.REPEATS):
        first = event.receiver if event.receiver is not None else event.arg(0)
        if isinstance(first, Made | Item | Derived):
            return range_of(first)
    return None


def outputs_of(value: Value | None) -> int | None:
    """The number of outputs of the last layer that a value came through."""
    for part in ancestry(value, most=400):
        if isinstance(part, Made) and part.event.method == "__call__" and isinstance(part.event.receiver, Made):
            layer = part.event.receiver
            last = layer.name.rpartition(".")[2]
            if last in classes_of(Trait.LINEAR):
                number = constant(layer.event.arg(1, "out_features", "out_channels"))
                return number if isinstance(number, int) else None
            if last.startswith(stems_of(Trait.CONV, Trait.RECURRENT, Trait.EMBEDDING, Trait.BILINEAR)):
                return None
    return None
