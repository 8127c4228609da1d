"""How many dimensions a value in a script has, and how long the last one is, where that can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import classes_of, functions_of
from trueline.apitable.traits import Trait
from trueline.script.reading.elements import layers_in
from trueline.script.roles import Role
from trueline.script.trace import Event, iterated
from trueline.script.values import Const, Derived, Item, Made, Seq, Symbol, Value, constant, options
from trueline.script.walking import walk

# Calls with the sizes as their arguments, or as one tuple.
_BY_SIZES: Final = functions_of(Trait.BY_SIZES)
_BY_SHAPE: Final = functions_of(Trait.BY_SHAPE)
_FLAT: Final = functions_of(Trait.FLAT)
_SAME: Final = functions_of(
    *(Trait.SAME, Trait.ELEMENTWISE, Trait.SOFTMAX, Trait.LOG_SOFTMAX, Trait.DROPOUT, Trait.SPLITS, Trait.FREEZES),
    *(Trait.DRAWS_IN_PLACE, Trait.ADDS, Trait.SUBTRACTS, Trait.MULTIPLIES, Trait.DIVIDES),
)
_LAYERS: Final = classes_of(
    *(Trait.PASSES_THROUGH, Trait.ELEMENTWISE, Trait.SOFTMAX, Trait.LOG_SOFTMAX, Trait.DROPOUT, Trait.NORM)
)
_REDUCING: Final = functions_of(Trait.REDUCTION)
_ARITHMETIC: Final = ("Add", "Sub", "Mult", "Div", "Pow", "Mod", "Gt", "Lt", "GtE", "LtE", "Eq", "NotEq", "USub")


@dataclass(frozen=True, slots=True)
class Shape:
    """Dimensions, None where they are not known; ``last`` is the length of the last one, ``by`` what made it so."""

    rank: int | None = None
    last: int | None = None
    by: Event | None = None


_NOT_KNOWN: Final = Shape()


@walk(_NOT_KNOWN)
def shape_of(value: Value | None) -> Shape:
    """What is known of a value's shape; nothing where it may be one of several unlike each other."""
    shapes = [_shape(part) for part in options(value)]
    same = all(shape.rank == shapes[0].rank and shape.last == shapes[0].last for shape in shapes)
    return shapes[0] if shapes and same else _NOT_KNOWN


def _shape(value: Value) -> Shape:
    match value:
        case Const() if isinstance(value.value, int | float):
            return Shape(0)
        case Symbol() if value.name.startswith("math."):
            return Shape(0)
        case Derived() if value.op in _ARITHMETIC:
            return _widest([shape_of(part) for part in value.of])
        case Item():
            return _of_item(value)
        case Made():
            return _of_layer(value.event) if value.event.role is Role.FORWARD else _of_call(value)
    return _NOT_KNOWN


def _widest(shapes: list[Shape]) -> Shape:
    ranks = [shape.rank for shape in shapes]
    known = [rank for rank in ranks if rank is not None]
    if not known or len(known) < len(ranks):
        return _NOT_KNOWN
    highest = max(known)
    widest = [shape for shape in shapes if shape.rank == highest]
    lasts = {shape.last for shape in widest}
    last = next(iter(lasts)) if len(lasts) == 1 and len(widest) == len(shapes) else None
    if last is None and sum(rank > 0 for rank in known) == 1:
        last = widest[0].last
    return Shape(highest, last, next((shape.by for shape in widest if shape.last == last), None))


def _of_item(value: Item) -> Shape:
    column = _field(value)
    if column is not None:
        # What a loader gives has the samples in front, as the whole has.
        return shape_of(column)
    if value.index is None:
        made = value.of
        parts = isinstance(made, Made) and made.event.method in ("split", "chunk")
        return shape_of(_input(made.event)) if isinstance(made, Made) and parts else _NOT_KNOWN
    inner = shape_of(value.of)
    if inner.rank is None:
        return _NOT_KNOWN
    given = value.index.items if isinstance(value.index, Seq) else [value.index]
    rank = inner.rank
    for part in given:
        if isinstance(part, Const) and isinstance(part.value, int) and not isinstance(part.value, bool):
            rank -= 1
        elif isinstance(part, Const) and part.value is None:
            rank += 1
        elif not (isinstance(part, Derived) and part.op == "Slice"):
            return _NOT_KNOWN
    whole = len(given) < inner.rank
    return Shape(rank, inner.last if whole else None, inner.by if whole else None) if rank >= 0 else _NOT_KNOWN


def _field(value: Item) -> Value | None:
    """The column that a loop over a loader of columns gives: ``for x, y in DataLoader(TensorDataset(a, b))``."""
    loop = value
    places: list[int] = []
    while isinstance(loop.of, Item) and isinstance(loop.index, Const) and isinstance(loop.index.value, int):
        places.insert(0, loop.index.value)
        loop = loop.of
    if loop.index is not None or not places:
        return None
    columns = _columns(iterated(loop.of))
    # ``for x, (y, z)`` and ``for x, *rest`` name fields by more than one number.
    at = sum(places)
    return columns[at] if 0 <= at < len(columns) else None


def _columns(loader: Value | None) -> list[Value]:
    while isinstance(loader, Made):
        event = loader.event
        if loader.name == "torch.utils.data.TensorDataset":
            return list(event.args) if not event.open else []
        if loader.name == "mindspore.dataset.NumpySlicesDataset":
            data = event.arg(0, "data")
            return list(data.items) if isinstance(data, Seq) and not data.open else []
        if loader.name in ("torch.utils.data.DataLoader", "torch.utils.data.Subset"):
            if event.arg(6, "collate_fn") is not None and loader.name.endswith("DataLoader"):
                return []
            loader = event.arg(0, "dataset")
        elif loader.name.startswith("mindspore.dataset.") and event.method in functions_of(
            Trait.PIPELINE_KEEPS_COLUMNS
        ):
            loader = event.receiver
        elif event.method in ("create_tuple_iterator", "random_split"):
            loader = event.receiver if event.receiver is not None else event.arg(0)
        else:
            return []
    return []


def _of_layer(event: Event) -> Shape:
    layer = event.receiver
    if not isinstance(layer, Made) or not event.args or layers_in(layer) is not None:
        return _NOT_KNOWN
    kind = layer.name.rpartition(".")[2]
    inner = shape_of(event.args[0])
    if kind in classes_of(Trait.LINEAR):
        size = constant(layer.event.arg(0 if kind == "LazyLinear" else 1, "out_features", "out_channels"))
        return Shape(inner.rank, size if isinstance(size, int) else None, event)
    if kind == "Embedding":
        return Shape(None if inner.rank is None else inner.rank + 1)
    return inner if kind in _LAYERS else _NOT_KNOWN


def _input(event: Event) -> Value | None:
    return event.receiver if event.receiver is not None else event.arg(0, "input")


def _of_call(value: Made) -> Shape:
    event, last = value.event, value.event.method
    if last in _BY_SIZES and event.receiver is None:
        return _by_sizes(event)
    if last in _BY_SHAPE:
        return _by_tuple(event.arg(0, "size", "shape"))
    if last in functions_of(Trait.SIZED_BEHIND):
        return _by_tuple(event.kwargs.get("size") or event.arg(2))
    if last in _FLAT:
        return Shape(1)
    if last in functions_of(Trait.JOINS):
        parts = event.arg(0, "tensors", "arrays")
        shape = shape_of(parts.items[0]) if isinstance(parts, Seq) and parts.items else _NOT_KNOWN
        return Shape(shape.rank + (last == "stack") if shape.rank is not None and last != "column_stack" else None)
    if last in ("unsqueeze", "expand_dims"):
        inner = shape_of(_input(event))
        at = constant(event.arg(0 if event.receiver is not None else 1, "dim", "axis"))
        return Shape(inner.rank + 1, 1 if at == -1 else None) if inner.rank is not None else _NOT_KNOWN
    if last in ("view", "reshape"):
        return _reshaped(event)
    if last in _REDUCING:
        return _reduced(event)
    return shape_of(_input(event)) if last in _SAME else _NOT_KNOWN


def _by_sizes(event: Event) -> Shape:
    if event.open or any(name in event.kwargs for name in ("size", "shape")):
        return _by_tuple(event.kwargs.get("size") or event.kwargs.get("shape"))
    if len(event.args) == 1 and not isinstance(event.args[0], Const):
        return _by_tuple(event.args[0])
    sizes = event.args
    last = constant(sizes[-1]) if sizes else None
    return Shape(len(sizes), last if isinstance(last, int) else None)


def _by_tuple(shape: Value | None) -> Shape:
    if isinstance(shape, Const) and isinstance(shape.value, int):
        return Shape(1)
    if not isinstance(shape, Seq) or shape.open:
        return _NOT_KNOWN
    last = constant(shape.items[-1]) if shape.items else None
    return Shape(len(shape.items), last if isinstance(last, int) else None)


def _reshaped(event: Event) -> Shape:
    given = list(event.args[0 if event.receiver is not None else 1 :])
    if len(given) == 1 and isinstance(given[0], Seq) and not given[0].open:
        given = list(given[0].items)
    if not given or event.open or (len(given) == 1 and not isinstance(given[0], Const)):
        return _NOT_KNOWN
    last = constant(given[-1])
    return Shape(len(given), last if isinstance(last, int) and last > 0 else None)


def _reduced(event: Event) -> Shape:
    inner = shape_of(_input(event))
    given = event.arg(0 if event.receiver is not None else 1, "dim", "axis")
    if given is None:
        return Shape(0) if not event.kwargs and event.method != "norm" else _NOT_KNOWN
    keeps = constant(event.arg(1 if event.receiver is not None else 2, "keepdim", "keepdims"), False)
    at = constant(given)
    if inner.rank is None or not isinstance(at, int) or isinstance(at, bool) or keeps is not False:
        return _NOT_KNOWN
    return Shape(inner.rank - 1)
