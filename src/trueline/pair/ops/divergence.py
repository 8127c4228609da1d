"""Where two blocks part between their layers: their operators side by side, by values and by what flows into what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.ops.edits import Edit, EditKind
from trueline.pair.ops.graph_alignment import Beside
from trueline.pair.ops.input_mapping import taken
from trueline.pair.ops.masks import makes_mask, masked_otherwise
from trueline.pair.ops.op_forms import Done
from trueline.pair.ops.op_graph import Graph, Op
from trueline.pair.ops.reading import Reading
from trueline.pair.ops.same_values import equal, level
from trueline.pair.ops.value_words import Named, named

_MOST_EDITS: Final = 4
_NOTHING: Final[Mapping[str, float]] = MappingProxyType({})


class PartingKind(StrEnum):
    """How two blocks part."""

    MISSING_OP = "missing_op"
    EXTRA_OP = "extra_op"
    OTHER_OP = "other_op"
    OTHER_INPUT = "other_input"
    MOVED_OP = "moved_op"
    OTHER_LAYOUT = "other_layout"
    OTHER_MASK = "other_mask"
    MOVED_LAYER = "moved_layer"
    UNTOLD = "untold"


_KINDS: Final = {
    EditKind.MISSING: PartingKind.MISSING_OP,
    EditKind.EXTRA: PartingKind.EXTRA_OP,
    EditKind.OTHER: PartingKind.OTHER_OP,
    EditKind.INPUT: PartingKind.OTHER_INPUT,
    EditKind.LAYOUT: PartingKind.OTHER_LAYOUT,
    EditKind.TURNED: PartingKind.OTHER_LAYOUT,
}


@dataclass(frozen=True, slots=True)
class Parting:
    """One place where the port does something else.

    ``bench_value`` is what the benchmark has there, ``port_value`` what the port has; ``given`` is what both start
    from there, where it is one value. ``user`` is the port's operator that takes it. ``swapped``: both operators take
    the same values in another order. ``operand`` is what an operator of two values takes besides the value that goes
    on. ``sink`` is the inner layer that gets the wrong value ("": the block's output), ``measured`` how far apart it is
    there. ``sizes`` are those of the block's axes. ``masks``: the benchmark makes a mask of the value. ``tried``: the
    benchmark's operator took the value that the port has. ``beside`` are the values that an operator which is missing
    or too many takes besides the one that goes on. ``available`` is the port's name of the benchmark's value, where the
    port has it elsewhere; ``exchanged``: the benchmark has there what the port has here. ``checked``: with the benchmark's value put in here (and at the
    other places), the port's own operators lead to the benchmark's value.
    """

    kind: PartingKind
    sink: str
    measured: float
    checked: bool
    bench_value: Array | None
    port_value: Array | None
    given: Array | None = None
    bench_op: Op | None = None
    port_op: Op | None = None
    bench_done: Done | None = None
    port_done: Done | None = None
    bench_takes: Named | None = None
    port_takes: Named | None = None
    line: Location | None = None
    other_line: Location | None = None
    user: Op | None = None
    swapped: bool = False
    operand: Named | None = None
    sizes: tuple[int, ...] = ()
    masks: bool = False
    tried: bool = False
    beside: tuple[int, ...] = ()
    available: Named | None = None
    exchanged: bool = False


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
    return _moved_layers(sides, _exchanged(_moved(sides, list(reversed(once.values())))))


def _moved_layers(sides: Beside, found: list[Parting]) -> list[Parting]:
    """A layer that is passed by where the benchmark has it, and is given something else, stands at another place."""
    calls = {op.module: op for op in sides.bench.graph.ops if op.module is not None}
    for parting in found:
        name = parting.bench_takes.name if parting.bench_takes is not None else ""
        layer = calls.get(name)
        if parting.kind is not PartingKind.OTHER_INPUT or layer is None or parting.bench_takes is None:
            continue
        if parting.bench_takes.what != "layer" or not any(other.sink == name for other in found):
            continue
        given = sides.bench.array(sides.bench.base(layer.inputs[0])) if layer.inputs else None
        if given is None or parting.port_value is None or not equal(parting.port_value, given, sides.floor):
            continue
        moved = replace(parting, kind=PartingKind.MOVED_LAYER, bench_op=layer)
        return [moved, *(other for other in found if other is not parting and not _is_about(other, name))]
    return found


def _is_about(parting: Parting, layer: str) -> bool:
    """Whether a layer's place explains it: what it is given, or what is done with what it gives."""
    names = [named.name for named in (parting.bench_takes, parting.port_takes, parting.operand) if named is not None]
    return parting.sink == layer or layer in names


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


def _exchanged(found: list[Parting]) -> list[Parting]:
    """Two values that stand in each other's place are one mistake."""
    left: list[Parting] = []
    for parting in found:
        place = next((place for place, other in enumerate(left) if _are_exchanged(other, parting)), None)
        if place is None:
            left.append(parting)
        else:
            left[place] = _as_one(left[place], parting)
    return left


def _as_one(first: Parting, second: Parting) -> Parting:
    here = {named.line for named in (first.port_takes, second.port_takes) if named is not None}
    there = {named.line for named in (first.bench_takes, second.bench_takes) if named is not None}
    return replace(
        first,
        exchanged=True,
        checked=first.checked and second.checked,
        # Where one line makes both, it has named them otherwise.
        line=(next(iter(here)) if len(here) == 1 else None) or first.line,
        other_line=(next(iter(there)) if len(there) == 1 else None) or first.other_line,
    )


def _are_exchanged(first: Parting, second: Parting) -> bool:
    names = first.available, second.available
    return (
        first.kind is second.kind is PartingKind.OTHER_INPUT
        and not first.exchanged
        and None not in names
        and names == (second.port_takes, first.port_takes)
    )


def _sinks(bench: Graph, port: Graph) -> Iterator[_Sink]:
    """What inner layers are given, and the outputs, on both sides."""
    port_calls = _calls(port)
    for place, op in _calls(bench).items():
        other = port_calls.get(place)
        if other is not None:
            for here, there in zip(_taken(bench, op, port, other), other.inputs, strict=False):
                yield _Sink(place[0], here, there, other.line, op.line)
    for here, there in zip(bench.outputs, port.outputs, strict=False):
        yield _Sink("", here, there)


def _taken(bench: Graph, op: Op, port: Graph, other: Op) -> Sequence[int]:
    """The benchmark's inputs of a layer that the port's takes too."""
    kinds = [
        [(array.dtype.name, array.shape) for value in inputs if (array := graph.values[value]) is not None]
        for graph, inputs in ((bench, op.inputs), (port, other.inputs))
    ]
    whole = len(kinds[0]) == len(op.inputs) and len(kinds[1]) == len(other.inputs)
    places = taken(kinds[0], kinds[1]) if whole else None
    return op.inputs if places is None else [op.inputs[place] for place in places]


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
    edits = [change for change in found if change.kind is not EditKind.LAYOUT] or found
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
    if not parting.swapped or edit.bench_op is None or edit.port_op is None or len(edit.port_op.inputs) != 2:
        return parting
    if edit.port_op.kind != "matmul":
        return parting
    here = [_origin(sides.bench, value) for value in edit.bench_op.inputs]
    there = [_origin(sides.port, value) for value in edit.port_op.inputs]
    if here[0] == here[1] or not (sides.same(here[0], there[1]) and sides.same(here[1], there[0])):
        return parting
    first, second = (named(sides.port, value) for value in there)
    bench = [named(sides.bench, value) for value in here]
    return replace(
        parting,
        kind=PartingKind.OTHER_INPUT,
        exchanged=True,
        swapped=False,
        bench_takes=bench[0],
        port_takes=first,
        available=second,
        line=first.line if first.line == second.line and first.line is not None else parting.line,
        other_line=bench[0].line if bench[0].line == bench[1].line and bench[0].line else parting.other_line,
    )


def _origin(reading: Reading, value: int) -> int:
    """The layer's output, or the part of a value, that one operator after another has only turned and scaled."""
    found = reading.base(value)
    while True:
        op = reading.op(found)
        varying = [one for one in reading.inputs(op) if not reading.is_constant(one)] if op is not None else []
        if op is None or len(op.outputs) > 1 or len(varying) != 1 or op.kind in ("slice", "unbind", "index"):
            return found
        found = varying[0]


def _parting(sides: Beside, sink: _Sink, edit: Edit, measured: float, checked: bool) -> Parting:
    bench, port = sides.bench, sides.port
    return Parting(
        PartingKind.OTHER_MASK if _are_truths(sides, edit) else _KINDS[edit.kind],
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
        _line(edit.port_op)
        or _reshaped_at(port, edit)
        or _line(edit.user)
        or sink.line
        or _line(port.graph.maker.get(edit.port)),
        _line(edit.bench_op) or _line(edit.other_user) or sink.other_line or _line(bench.graph.maker.get(edit.bench)),
        edit.user,
        _swapped(sides, edit),
        _operand(sides, edit),
        bench.sizes,
        makes_mask(bench, edit.bench),
        _tried(sides, edit),
        _beside(sides, edit),
        _available(sides, edit),
    )


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

    def is_it(here: int, there: int) -> bool:
        return sides.same(here, there) or sides.turn(here, there) is not None

    in_order = all(is_it(here, there) for here, there in zip(given, taken, strict=True))
    return len(given) > 1 and not in_order and all(any(is_it(here, there) for there in taken) for here in given)


def _given(sides: Beside, edit: Edit) -> Array | None:
    """The one value that the operator at fault takes on both sides."""
    op, reading = (edit.bench_op, sides.bench) if edit.bench_op is not None else (edit.port_op, sides.port)
    if op is None:
        return None
    varying = [value for value in op.inputs if not reading.is_constant(reading.base(value))]
    return reading.array(varying[0]) if len(varying) == 1 else None


def _line(op: Op | None) -> Location | None:
    return op.line if op is not None else None


def _moved(sides: Beside, found: list[Parting]) -> list[Parting]:
    """An operator that is missing at one place and too many at another has been moved."""
    left = list(found)
    for missing in [parting for parting in found if parting.kind is PartingKind.MISSING_OP]:
        for extra in [parting for parting in left if parting.kind is PartingKind.EXTRA_OP]:
            if _does_the_same(missing, extra) and _takes_the_same(sides, missing, extra):
                left.remove(extra)
                left[left.index(missing)] = replace(
                    missing,
                    kind=PartingKind.MOVED_OP,
                    port_op=extra.port_op,
                    port_done=extra.port_done,
                    checked=missing.checked and extra.checked,
                    line=extra.line,
                )
                break
    return left


def _takes_the_same(sides: Beside, missing: Parting, extra: Parting) -> bool:
    """Whether both operators take the same besides the value that goes on: a sum with something else is another sum."""
    if len(missing.beside) != len(extra.beside):
        return False
    return all(
        any(sides.same(here, there) or sides.turn(here, there) is not None for there in extra.beside)
        for here in missing.beside
    )


def _does_the_same(missing: Parting, extra: Parting) -> bool:
    if missing.bench_op is None or extra.port_op is None:
        return False
    here, there = missing.bench_done, extra.port_done
    if here is not None and there is not None and here.form is not None and there.form is not None:
        return here.form.name == there.form.name and here.form.family != "identity"
    return missing.bench_op.kind == extra.port_op.kind and (here is None) == (there is None)
