"""Rows in a script: whether a sample's label stands in the row that its inputs are taken from."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from trueline.model.location import Location
from trueline.script.analysis.columns import batch_index, columns_of, plain
from trueline.script.analysis.passes import evaluation_passes, training_data
from trueline.script.loops import training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.source import SourceFile
from trueline.script.trace import Trace
from trueline.script.values import Const, Derived, Item, Unknown, Value, ancestry, constant

_LABELS: Final = re.compile(
    r"^(y|ys|yb|gold|answers?|nxt|next\w*|\w*(target|label|tgt|output)s?\w*|y_\w+|\w+_y)$", re.I
)


@dataclass(frozen=True, slots=True)
class Apart:
    """A label that is taken from another row than the inputs; ``sure`` where that cannot be meant."""

    place: Location
    by: int
    sure: bool


def rows_apart(script: Script) -> Iterator[Apart]:
    """Training data whose labels are one row before or after their inputs."""
    trace = script.trace
    for loader in _trained(trace):
        labels = list(columns_of(loader, 1, trace))
        inputs = list(columns_of(loader, 0, trace))
        if len(labels) != 1 or len(inputs) != 1:
            continue
        yield from _neighbour(inputs[0], labels[0], script)
        yield from _cut(inputs[0], labels[0], trace)


def _trained(trace: Trace) -> Iterator[Value]:
    """What training goes through, also where it is repacked on the way to the loss."""
    values = {id(value): value for value in training_data(trace)}
    for loop in training_loops(trace):
        for event in loop.of(Role.LOSS):
            at = batch_index(plain(event.arg(1, "target", "labels", "label")))
            if at is not None:
                values.setdefault(id(at[0]), at[0])
    return iter(values.values())


def _neighbour(inputs: Value, label: Value, script: Script) -> Iterator[Apart]:
    """``return self.x[i], self.y[i - 1]``: for the first sample that is the last label."""
    labels = list(_picked(plain(label)))
    if len(labels) != 1 or abs(labels[0][2]) != 1:
        return
    array, base, by, place = labels[0]
    own = [picked for picked in _picked(inputs) if picked[1] is base]
    if place is None or any(picked[0] is array or picked[2] != 0 for picked in own):
        return
    if own or _reads_row(script, place, base):
        # The one after may be what is to be foretold; the one before wraps around.
        yield Apart(place, by, by == -1)


def _reads_row(script: Script, place: Location, index: Value) -> bool:
    """Whether the function at a place takes something else at its index as it is: ``self.images[i]``."""
    name = index.why.removeprefix("parameter ") if isinstance(index, Unknown) else ""
    for source in script.files:
        for node in ast.walk(source.tree) if source.shown == place.file else ():
            if isinstance(node, ast.FunctionDef) and node.lineno <= place.line <= (node.end_lineno or 0):
                read = [child.slice for child in ast.walk(node) if isinstance(child, ast.Subscript)]
                return any(isinstance(node, ast.Name) and node.id == name for node in read)
    return False


def _picked(value: Value | None) -> Iterator[tuple[Value, Value, int, Location | None]]:
    """Rows that are picked by a dataset's index: of what, by which, how many further, and where."""
    for part in ancestry(value, most=80):
        if not isinstance(part, Item) or part.index is None:
            continue
        index = part.index
        if isinstance(index, Unknown) and index.why.startswith("parameter "):
            yield part.of, index, 0, None
        elif isinstance(index, Derived) and index.op in ("Add", "Sub") and len(index.of) == 2:
            base, number = index.of[0], constant(index.of[1])
            named = isinstance(base, Unknown) and base.why.startswith("parameter ")
            if named and isinstance(number, int):
                yield part.of, base, number if index.op == "Add" else -number, index.place


def _cut(inputs: Value, label: Value, trace: Trace) -> Iterator[Apart]:
    """``x[:-1], y[1:]`` of two arrays; meant where something is foretold, but then evaluation does the same."""
    first, second = _first_row(inputs), _first_row(label)
    by = _between(first, second)
    if first is None or second is None or first.of is second.of or by is None or abs(by) != 1:
        return
    place = second.place or first.place
    if place is None:
        return
    starts = [_distance(start.data, trace) for start in evaluation_passes(trace)]
    known = [start for start in starts if start is not None]
    yield Apart(place, by, bool(known) and all(start == 0 for start in known))


def _distance(loader: Value, trace: Trace) -> int | None:
    """How many rows a loader's labels are after their inputs; None where that is not known."""
    labels, inputs = list(columns_of(loader, 1, trace)), list(columns_of(loader, 0, trace))
    if len(labels) != 1 or len(inputs) != 1:
        return None
    return _between(_first_row(inputs[0]), _first_row(labels[0]))


@dataclass(frozen=True, slots=True)
class _Rows:
    """What a column was cut from, and how, the last cut first: from which row on, or by what rows were picked."""

    of: Value
    cuts: tuple[int | tuple[str, object], ...]
    place: Location | None


def _between(first: _Rows | None, second: _Rows | None) -> int | None:
    """How many rows further the second begins; what only one of them went through is how it was made."""
    if first is None or second is None:
        return None
    by = 0
    for cut, other in zip(first.cuts, second.cuts, strict=False):
        if isinstance(cut, int) and isinstance(other, int):
            by += other - cut
        elif cut != other:
            return None
    return by


def _first_row(column: Value) -> _Rows | None:
    value, place = plain(column), None
    cuts: list[int | tuple[str, object]] = []
    for _ in range(30):
        if isinstance(value, Derived) and value.op in ("Add", "Sub", "Mult", "Div"):
            # Arithmetic leaves rows where they are.
            value = plain(value.of[1] if isinstance(value.of[0], Const) else value.of[0])
            continue
        if not isinstance(value, Item) or value.index is None or isinstance(value.index, Const):
            break
        index = value.index
        if isinstance(index, Derived) and index.op == "Slice":
            begins = constant(index.of[0], "?")
            if constant(index.of[2], "?") is not None:
                return None
            if begins is None or (isinstance(begins, int) and begins >= 0):
                cuts.append(begins or 0)
            else:
                cuts.append(("from", begins if isinstance(begins, int) else id(index.of[0])))
            place = place or index.place
        else:
            cuts.append(("picked", id(index)))
        value = plain(value.of)
    return _Rows(value, tuple(cuts), place) if value is not None else None


def same_twice(script: Script) -> Iterator[Location]:
    """Inputs and targets that are the same piece of a sequence: ``s[:-1], s[:-1]``."""
    for source in script.files:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Return | ast.Yield) and _is_pair(node.value):
                yield Location.of(source.shown, node)
            elif isinstance(node, ast.Assign) and _is_pair(node.value):
                names = [child for child in ast.walk(node.targets[0]) if isinstance(child, ast.Name)]
                if any(_LABELS.match(node.id) for node in names):
                    yield Location.of(source.shown, node)
        yield from _assigned_twice(source)


def _is_pair(value: ast.expr | None) -> bool:
    return (
        isinstance(value, ast.Tuple)
        and len(value.elts) == 2
        and _is_piece(value.elts[0])
        and ast.dump(value.elts[0]) == ast.dump(value.elts[1])
    )


def _is_piece(node: ast.expr) -> bool:
    """A sequence without its last, or its first, element: what a shift by one leaves over."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name | ast.Attribute):
        return False
    cuts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(child, ast.Slice) and ast.unparse(child) in (":-1", "1:") for child in cuts)


def _assigned_twice(source: SourceFile) -> Iterator[Location]:
    """``x[:n] = s[:-1]`` and ``y[:n] = s[:-1]``, one after the other, where ``x, y`` is what a function gives."""
    for function in ast.walk(source.tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        pairs = {
            frozenset(child.id for child in node.value.elts if isinstance(child, ast.Name))
            for node in ast.walk(function)
            if isinstance(node, ast.Return | ast.Yield) and isinstance(node.value, ast.Tuple)
        }
        before: ast.Assign | None = None
        for node in ast.walk(function):
            if not isinstance(node, ast.Assign) or not _is_piece(node.value):
                continue
            if before is not None and ast.dump(before.value) == ast.dump(node.value):
                names = frozenset((_base(before), _base(node)))
                if len(names) == 2 and any(names <= pair for pair in pairs):
                    yield Location.of(source.shown, node)
            before = node


def _base(node: ast.Assign) -> str:
    target: ast.expr = node.targets[0]
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if isinstance(target, ast.Name) else ""
