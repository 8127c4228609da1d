"""The lines at which an edit is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from trueline.apitable.opkinds import op_kinds
from trueline.model.location import Location
from trueline.pair.ops.edits import Edit, EditKind
from trueline.pair.ops.graph_alignment import Beside
from trueline.pair.ops.mask_forms import are_turned
from trueline.pair.ops.op_graph import Op
from trueline.pair.ops.reading import Reading

# What a function of one number does.
_NUMBERS: Final = frozenset({"scale", "offset", "affine"})


def place_of(
    side: Reading,
    value: int,
    own: Sequence[Location | None],
    user: Op | None,
    sink: Location | None,
    truths: bool,
    missing: bool,
) -> Location | None:
    """The line to change: the operator's own, else where the value is taken; where an operator made it, there.

    A constant is changed where the user's code makes it.
    """
    maker = side.graph.maker.get(value)
    made = line_of(maker) or constant_at(side, value)
    first = (made,) if truths or maker is None or (missing and _computes(maker)) else ()
    return next((line for line in (*own, *first, taken_at(user), sink, made) if line is not None), None)


def changed_at(port: Reading, edit: Edit) -> Location | None:
    """The line that has the port's operator; one too many is no fault of how the framework's layer is built.

    A function that does right where others call it is not to be changed, but its call.
    """
    op = edit.port_op
    if op is None:
        return None
    others = (other for other in port.graph.ops if op.caller and other.line == op.line and other.caller != op.caller)
    if any(all(map(port.is_known, other.outputs)) for other in others):
        return op.caller
    form = done.form if (done := port.done(op)) is not None else None
    if op.set_at is not None and form is not None and form.family in _NUMBERS:
        return op.set_at
    return op.taken_at if edit.kind is EditKind.EXTRA or edit.crossed else op.line


def _computes(op: Op) -> bool:
    """Whether an operator makes new values, and not only parts or views of what it takes."""
    row = op_kinds().get(op.kind)
    return len(op.outputs) == 1 and not (row is not None and row.view)


def reshaped_at(port: Reading, edit: Edit) -> Location | None:
    """Where the port gives a value, whose axes the benchmark permutes, its shape."""
    if edit.bench_op is None or edit.bench_op.kind != "transpose":
        return None
    shaping = (op for op in port.graph.ops if op.kind == "reshape" and op.module is None)
    return next((op.line for op in shaping if op.outputs and port.base(op.outputs[0]) == edit.port), None)


def are_truths(sides: Beside, edit: Edit) -> bool:
    """Whether the two values say where something is masked."""
    both = sides.bench.array(edit.bench), sides.port.array(edit.port)
    if any(array is None or array.size < 2 for array in both):
        return False
    bench, port = both
    assert bench is not None and port is not None
    return bench.dtype == port.dtype == np.bool_ or (edit.kind is EditKind.INPUT and are_turned(port, bench))


def taken_at(user: Op | None) -> Location | None:
    """Where the user's code hands a value to an operator."""
    return user.taken_at if user is not None else None


def made_at(side: Reading, value: int) -> Location | None:
    """The line of the operator that makes a value, or at which the user's code makes a constant."""
    return line_of(side.op(value)) or constant_at(side, value)


def constant_at(side: Reading, value: int) -> Location | None:
    """Where a module is given a constant that it holds; else where the user's code makes it."""
    return side.graph.assigned.get(value) or side.graph.made.get(value)


def line_of(op: Op | None) -> Location | None:
    """An operator's line."""
    return op.line if op is not None else None
