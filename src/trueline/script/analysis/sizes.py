"""How many samples a loader has and how large its batches are, where a script says so."""

from __future__ import annotations

import ast
import sys
from typing import Final

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.script.values import (
    Const,
    Derived,
    Function,
    Instance,
    Item,
    Made,
    Seq,
    Table,
    Value,
    constant,
    written_range,
)
from trueline.script.walking import walk

# Calls whose first argument, or ``size``, is a shape.
_SHAPED: Final = functions_of(Trait.BY_SIZES, Trait.BY_SHAPE)
# What leaves the number of samples as it is.
_SAME: Final = functions_of(Trait.SAME, Trait.ADDS_AXIS, Trait.ELEMENTWISE, Trait.DRAWS_IN_PLACE, Trait.LISTS)
# Operators that put two arrays beside each other, row by row.
_BESIDE: Final = (
    "Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Gt", "Lt", "GtE", "LtE", "BitXor", "Pow", "USub",
)  # fmt: skip


def batch_size_of(loader: Value | None) -> Value | None:
    """The size of a loader's batches as it was written; None where it has none."""
    at = loader
    while isinstance(at, Made):
        if at.name == "torch.utils.data.DataLoader":
            return at.event.arg(1, "batch_size") or (None if at.event.open else Const(1))
        if at.event.method == "batch" and at.name.startswith("mindspore.dataset."):
            return at.event.arg(0, "batch_size")
        at = at.event.receiver
    return None


def drops_last(loader: Value | None) -> bool | None:
    """Whether an incomplete last batch is left out; None where that is not known."""
    at = loader
    while isinstance(at, Made):
        given: Value | None = None
        if at.name == "torch.utils.data.DataLoader":
            given = at.event.arg(8, "drop_last")
        elif at.event.method == "batch" and at.name.startswith("mindspore.dataset."):
            given = at.event.arg(1, "drop_remainder")
        else:
            at = at.event.receiver
            continue
        if given is None:
            return None if at.event.open else False
        return bool(given.value) if isinstance(given, Const) else None
    return None


@walk(None)
def samples_of(value: Value | None) -> int | None:
    """The number of samples of a loader, dataset or array; None where it is not written down."""
    match value:
        case Made():
            return _of_made(value)
        case Item():
            return _of_item(value)
        case Seq() if not value.open:
            # Columns side by side have the length of one of them; a plain list has its own.
            inner = [samples_of(part) for part in value.items]
            columns = [count for count in inner if count is not None]
            return columns[0] if columns else None
        case Table() if not value.open and value.items:
            return samples_of(next(iter(value.items.values())))
        case Derived() if value.op in _BESIDE:
            # A row of places, as of time, is laid across the samples.
            parts = [part for part in value.of if not _is_axis(part)] or value.of
            sizes = [count for count in (samples_of(part) for part in parts) if count is not None]
            return max(sizes) if sizes else None
        case Instance():
            return _of_instance(value)
    return None


def _of_made(value: Made) -> int | None:
    event, last = value.event, value.event.method
    if value.name == "torch.utils.data.DataLoader":
        return samples_of(event.arg(0, "dataset"))
    if value.name == "torch.utils.data.TensorDataset":
        return samples_of(event.arg(0))
    if value.name == "torch.utils.data.Subset":
        return samples_of(event.arg(1, "indices"))
    if value.name in ("mindspore.dataset.NumpySlicesDataset", "mindspore.dataset.GeneratorDataset"):
        return samples_of(event.arg(0, "data", "source"))
    if value.name.startswith("mindspore.dataset.") and event.receiver is not None:
        return samples_of(event.receiver) if last in functions_of(Trait.PIPELINE_KEEPS_SAMPLES) else None
    if last in functions_of(Trait.COUNTS_UP, Trait.PERMUTES):
        counted = written_range(event.args[:1] if last == "permutation" else event.args)
        return len(counted) if counted is not None else None
    if last in _SHAPED:
        return _leading(event.arg(0, "size", "shape"))
    if last in functions_of(Trait.SIZED_BEHIND):
        return _leading(event.arg(2, "size") or event.arg(1 if last == "choice" else 3, "size"))
    if last in functions_of(Trait.JOINS):
        # Side by side.
        along = constant(event.arg(1, "axis", "dim"), 0 if last != "column_stack" else 1)
        return samples_of(event.arg(0)) if isinstance(along, int) and along != 0 else None
    if last in functions_of(Trait.REDUCTION) and event.receiver is not None:
        # Over other dimensions than the first.
        along = constant(event.arg(0, "dim", "axis"))
        return samples_of(event.receiver) if isinstance(along, int) and along != 0 else None
    if last in _SAME:
        return samples_of(event.receiver if event.receiver is not None else event.arg(0))
    return None


@walk(False)
def _is_axis(value: Value) -> bool:
    """``arange(n)`` or ``linspace(…)``, also scaled."""
    if isinstance(value, Derived) and value.op in _BESIDE:
        return all(isinstance(part, Const) or _is_axis(part) for part in value.of)
    if not isinstance(value, Made):
        return False
    if value.event.method in _SAME:
        inner = value.event.receiver if value.event.receiver is not None else value.event.arg(0)
        return inner is not None and _is_axis(inner)
    return value.event.method in ("arange", "linspace")


def _leading(shape: Value | None) -> int | None:
    if isinstance(shape, Seq) and shape.items:
        shape = shape.items[0]
    number = constant(shape)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _of_item(value: Item) -> int | None:
    index = value.index
    if isinstance(index, Seq) and index.items:
        index = index.items[0]
    if isinstance(index, Derived) and index.op == "Slice":
        bounds = [constant(part, "?") for part in index.of]
        if not all(bound is None or isinstance(bound, int) for bound in bounds) or 0 in bounds[2:]:
            return None
        whole = samples_of(value.of)
        if whole is not None:
            return len(range(min(whole, sys.maxsize))[slice(*bounds)])
        return bounds[1] if bounds[0] in (None, 0) and isinstance(bounds[1], int) and bounds[1] > 0 else None
    if isinstance(value.of, Made) and value.of.name == "torch.utils.data.random_split" and isinstance(index, Const):
        lengths = value.of.event.arg(1, "lengths")
        if isinstance(lengths, Seq) and isinstance(index.value, int) and index.value < len(lengths.items):
            number = constant(lengths.items[index.value])
            return number if isinstance(number, int) else None
        return None
    return samples_of(index) if isinstance(index, Made | Item | Derived) else None


def _of_instance(value: Instance) -> int | None:
    """``return len(self.x)``, or a number that it keeps."""
    for cls in value.cls.lineage():
        length = cls.attributes.get("__len__")
        if not isinstance(length, Function) or isinstance(length.node, ast.Lambda):
            continue
        for node in ast.walk(length.node):
            if isinstance(node, ast.Return) and node.value is not None:
                return _returned(node.value, value)
    return None


def _returned(node: ast.expr, owner: Instance) -> int | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and node.args:
        inner = node.args[0]
        if isinstance(inner, ast.Attribute):
            return samples_of(owner.attributes.get(inner.attr))
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        # self.x.shape[0]
        first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
        if first and isinstance(node.value.value, ast.Attribute):
            return samples_of(owner.attributes.get(node.value.value.attr))
    elif isinstance(node, ast.Attribute):
        number = constant(owner.attributes.get(node.attr))
        return number if isinstance(number, int) else None
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    return None
