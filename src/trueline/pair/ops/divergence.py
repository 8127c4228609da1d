"""Where two blocks part between their layers: their operators side by side, by values and by what flows into what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np

from trueline.apitable.opkinds import op_kinds
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.ops.additive_masks import masked_otherwise
from trueline.pair.ops.edits import Edit, EditKind
from trueline.pair.ops.graph_alignment import Beside
from trueline.pair.ops.input_mapping import own_places, taken
from trueline.pair.ops.masks import makes_mask
from trueline.pair.ops.needed import needed
from trueline.pair.ops.op_graph import Graph, Op
from trueline.pair.ops.parting import Parting, PartingKind
from trueline.pair.ops.reading import Reading
from trueline.pair.ops.rearranging import exchange, rearranged
from trueline.pair.ops.same_values import level
from trueline.pair.ops.value_words import Named, named

_MOST_EDITS: Final = 4
_NOTHING: Final[Mapping[str, float]] = MappingProxyType({})


_KINDS: Final = {
    EditKind.MISSING: PartingKind.MISSING_OP,
    EditKind.EXTRA: PartingKind.EXTRA_OP,
    EditKind.OTHER: PartingKind.OTHER_OP,
    EditKind.INPUT: PartingKind.OTHER_INPUT,
    EditKind.LAYOUT: PartingKind.OTHER_LAYOUT,
    EditKind.TURNED: PartingKind.OTHER_LAYOUT,
}


@dataclass(frozen=True, slots=True)
class _Sink:
    name: str
    bench: int
    port: int
    line: Location | None = None
    other_line: Location | None = None


def part(bench: Graph, port: Graph, floor: float, coarse: Mapping[str, float] = _NOTHING) -> list[Parting]:
    """All places where the port parts from the benchmark, in the port's order; none where both do the same.

    ``coarse`` are kinds of operators that one side computes more coarsely, and by how much at most.
    """
    sides = Beside(Reading(bench, floor), Reading(port, floor), floor, coarse)
    found: dict[object, Parting] = {}
    for sink in _sinks(sides.bench.graph, sides.port.graph):
        for parting in _partings(sides, sink):
            # What several layers are given is one value.
            ops = [id(op) for op in (parting.bench_op, parting.port_op) if op is not None]
            found.setdefault((parting.kind, *ops) if ops else _key(parting), parting)
    once = {_key(parting): parting for parting in reversed(list(found.values()))}
    return rearranged(sides, list(reversed(once.values())))


def _key(parting: Parting) -> tuple[object, ...]:
    """What is to be written where: code that runs several times is changed once."""
    ops = [
        op
        if op is None or op.line is None
        else (op.kind, op.line, str(done.form.settings) if done and done.form else "")
        for op, done in ((parting.bench_op, parting.bench_done), (parting.port_op, parting.port_done))
    ]
    values = () if any(isinstance(op, tuple) for op in ops) else (parting.bench_takes, parting.port_takes)
    return parting.kind, *ops, *values, parting.operand, parting.line


def _sinks(bench: Graph, port: Graph) -> Iterator[_Sink]:
    """What inner layers are given, and the outputs, on both sides."""
    port_calls = _calls(port)
    for place, op in _calls(bench).items():
        other = port_calls.get(place)
        if other is not None:
            for here, there in _taken(bench, op, port, other):
                yield _Sink(place[0], here, there, other.line, op.line)
    for here, there in zip(bench.outputs, port.outputs, strict=False):
        yield _Sink("", here, there)


def _taken(bench: Graph, op: Op, port: Graph, other: Op) -> list[tuple[int, int]]:
    """What a layer is given on both sides, where either takes more than the other."""
    kinds = [
        [(array.dtype.name, array.shape) for value in inputs if (array := graph.values[value]) is not None]
        for graph, inputs in ((bench, op.inputs), (port, other.inputs))
    ]
    whole = len(kinds[0]) == len(op.inputs) and len(kinds[1]) == len(other.inputs)
    places = taken(kinds[0], kinds[1]) if whole else None
    own = own_places(kinds[0], kinds[1]) if whole else None
    here = op.inputs if places is None else [op.inputs[place] for place in places]
    there = other.inputs if own is None else [other.inputs[place] for place in own]
    return list(zip(here, there, strict=False))


def _calls(graph: Graph) -> dict[tuple[str, int], Op]:
    calls: dict[tuple[str, int], Op] = {}
    for op in graph.ops:
        if op.module is not None:
            calls[op.module, sum(place[0] == op.module for place in calls)] = op
    return calls


def _partings(sides: Beside, sink: _Sink) -> Iterator[Parting]:
    here, there = sides.bench.base(sink.bench), sides.port.base(sink.port)
    beside = sides.align(here, there)
    found = [change for change in beside.edits if change.kind is not EditKind.COARSE]
    if not found:
        return
    bench_value, port_value = sides.bench.array(here), sides.port.array(there)
    measured = level(port_value, bench_value) if bench_value is not None and port_value is not None else float("inf")
    edits = [change for change in found if change.kind is not EditKind.LAYOUT]
    # An order of axes is changed where it becomes another one.
    edits = needed(sides, edits) or [sides.turned(change) for change in found]
    masks = bench_value is not None and port_value is not None and masked_otherwise(port_value, bench_value)
    if masks or len({change.written or change for change in edits}) > _MOST_EDITS or beside.given_up:
        yield Parting(
            PartingKind.OTHER_MASK if masks else PartingKind.UNTOLD,
            sink.name,
            measured,
            masks,
            bench_value,
            port_value,
            line=(_line(sides.port.op(there)) if masks else None) or sink.line or _line(sides.port.op(there)),
            other_line=(_line(sides.bench.op(here)) if masks else None)
            or sink.other_line
            or _line(sides.bench.op(here)),
        )
        return
    for edit in edits:
        yield _with_origins(sides, edit, _parting(sides, sink, edit, measured, beside.checked))


def _with_origins(sides: Beside, edit: Edit, parting: Parting) -> Parting:
    """Swapped operands that come from two values which the port has exchanged before."""
    if not parting.swapped or edit.bench_op is None or edit.port_op is None or edit.port_op.kind != "matmul":
        return parting
    here, there = sides.bench.inputs(edit.bench_op), sides.port.inputs(edit.port_op)
    exchanged = exchange(sides, parting, (here[0], here[1]), (there[0], there[1]))
    return exchanged if exchanged is not None and exchanged.port_takes != named(sides.port, there[0]) else parting


def _parting(sides: Beside, sink: _Sink, edit: Edit, measured: float, checked: bool) -> Parting:
    bench, port = sides.bench, sides.port
    edit = _with_idle(sides, edit)
    truths = _are_truths(sides, edit)
    # What is to be done to a value too is written where that is made.
    missing = edit.kind is EditKind.MISSING
    return Parting(
        PartingKind.OTHER_MASK if truths else _KINDS[edit.kind],
        sink.name,
        measured,
        checked,
        bench.array(edit.bench),
        port.array(edit.port),
        _given(sides, edit),
        edit.bench_op,
        edit.port_op,
        bench.done(edit.bench_op) if edit.bench_op is not None else None,
        port.done(edit.port_op) if edit.port_op is not None else None,
        named(bench, edit.bench),
        named(port, edit.port),
        _place(port, edit.port, (_line(edit.port_op), _reshaped_at(port, edit)), edit.user, sink.line, truths, missing),
        _place(bench, edit.bench, (_line(edit.bench_op),), edit.other_user, sink.other_line, truths, missing),
        edit.user,
        _swapped(sides, edit),
        _operand(sides, edit),
        bench.sizes,
        makes_mask(bench, edit.bench),
        _tried(sides, edit),
        _beside(sides, edit),
        _available(sides, edit),
        (edit.bench, edit.port),
    )


def _with_idle(sides: Beside, edit: Edit) -> Edit:
    """An operator too many, or missing, is another one where the other side has its like without effect there."""
    if edit.kind is EditKind.EXTRA and edit.port_op is not None:
        idle = _idle(sides.bench, edit.bench, edit.port_op.kind)
        return replace(edit, kind=EditKind.OTHER, bench_op=idle) if idle is not None else edit
    if edit.kind is EditKind.MISSING and edit.bench_op is not None:
        idle = _idle(sides.port, edit.port, edit.bench_op.kind)
        return replace(edit, kind=EditKind.OTHER, port_op=idle) if idle is not None else edit
    return edit


def _idle(reading: Reading, value: int, kind: str) -> Op | None:
    """An operator of a kind that takes a value, or has made it, and gives the same."""
    for op in reading.graph.ops:
        if (
            op.kind == kind
            and op.module is None
            and value in (*map(reading.base, op.inputs), *map(reading.base, op.outputs))
        ):
            done = reading.done(op)
            if done is not None and done.form is not None and done.form.family == "identity":
                return op
    return None


def _place(
    side: Reading,
    value: int,
    own: Sequence[Location | None],
    user: Op | None,
    sink: Location | None,
    truths: bool,
    missing: bool,
) -> Location | None:
    """The line to change: the operator's own, else where the value is taken; where an operator made it, there."""
    maker = side.graph.maker.get(value)
    made = _line(maker)
    first = (made,) if truths or (missing and maker is not None and _computes(maker)) else ()
    return next((line for line in (*own, *first, _line(user), sink, made) if line is not None), None)


def _computes(op: Op) -> bool:
    """Whether an operator makes new values, and not only parts or views of what it takes; a layer has its own line."""
    row = op_kinds().get(op.kind)
    return op.module is None and len(op.outputs) == 1 and not (row is not None and row.view)


def _reshaped_at(port: Reading, edit: Edit) -> Location | None:
    """Where the port gives a value, whose axes the benchmark permutes, its shape."""
    if edit.bench_op is None or edit.bench_op.kind != "transpose":
        return None
    shaping = (op for op in port.graph.ops if op.kind == "reshape" and op.module is None)
    return next((op.line for op in shaping if op.outputs and port.base(op.outputs[0]) == edit.port), None)


def _are_truths(sides: Beside, edit: Edit) -> bool:
    """Whether the two values say where something is masked."""
    both = sides.bench.array(edit.bench), sides.port.array(edit.port)
    return all(array is not None and array.dtype == np.bool_ and array.size > 1 for array in both)


def _operand(sides: Beside, edit: Edit) -> Named | None:
    """What is taken besides the value that goes on; only where it is one."""
    if edit.kind is EditKind.MISSING and edit.bench_op is not None:
        rest = [value for value in sides.bench.inputs(edit.bench_op) if not sides.same(value, edit.port)]
        return named(sides.bench, rest[0]) if len(rest) == 1 and len(edit.bench_op.inputs) == 2 else None
    if edit.kind is EditKind.EXTRA and edit.port_op is not None:
        rest = [value for value in sides.port.inputs(edit.port_op) if not sides.same(edit.bench, value)]
        return named(sides.port, rest[0]) if len(rest) == 1 and len(edit.port_op.inputs) == 2 else None
    return None


def _beside(sides: Beside, edit: Edit) -> tuple[int, ...]:
    op, reading = (edit.bench_op, sides.bench) if edit.kind is EditKind.MISSING else (edit.port_op, sides.port)
    if op is None or edit.through is None:
        return ()
    return tuple(value for value in reading.inputs(op) if value != edit.through and not reading.is_constant(value))


def _available(sides: Beside, edit: Edit) -> Named | None:
    """What the port calls the benchmark's value, where it has it elsewhere and takes another."""
    if edit.kind is not EditKind.INPUT or sides.bench.is_constant(edit.bench):
        return None
    there = next((value for value in sides.port.all if sides.same(edit.bench, value)), None)
    return named(sides.port, there) if there is not None else None


def _tried(sides: Beside, edit: Edit) -> bool:
    """Whether the benchmark itself shows what a missing operator makes of the port's value."""
    op = edit.bench_op
    if edit.kind is not EditKind.MISSING or op is None:
        return False
    varying = [value for value in sides.bench.inputs(op) if not sides.bench.is_constant(value)]
    return len(varying) == 1 and sides.same(varying[0], edit.port)


def _swapped(sides: Beside, edit: Edit) -> bool:
    if edit.bench_op is None or edit.port_op is None or len(edit.bench_op.inputs) != len(edit.port_op.inputs):
        return False
    # Another operator is the fault itself, in whatever order it takes the values.
    if edit.bench_op.kind != edit.port_op.kind:
        return False
    given, taken = sides.bench.inputs(edit.bench_op), sides.port.inputs(edit.port_op)

    if edit.port_op.kind in ("sub", "div") and _crosswise(sides, edit.bench_op, edit.port_op):
        return True
    in_order = all(sides.agree(here, there) for here, there in zip(given, taken, strict=True))
    return len(given) > 1 and not in_order and all(any(sides.agree(here, there) for there in taken) for here in given)


def _crosswise(sides: Beside, bench_op: Op, port_op: Op) -> bool:
    """Whether two values of equal elements, along different axes, have changed places."""
    here = [array.shape if (array := sides.bench.array(value)) is not None else () for value in bench_op.inputs]
    there = [array.shape if (array := sides.port.array(value)) is not None else () for value in port_op.inputs]
    return len(set(here)) > 1 and here != there and here == there[::-1]


def _given(sides: Beside, edit: Edit) -> Array | None:
    """The one value that the operator at fault takes on both sides."""
    op, reading = (edit.bench_op, sides.bench) if edit.bench_op is not None else (edit.port_op, sides.port)
    if op is None:
        return None
    varying = [value for value in op.inputs if not reading.is_constant(reading.base(value))]
    return reading.array(varying[0]) if len(varying) == 1 else None


def _line(op: Op | None) -> Location | None:
    return op.line if op is not None else None
