"""Where two blocks part between their layers: their operators side by side, by values and by what flows into what."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from trueline.kernel.array import Array
from trueline.pair.ops.channels import axes_in, laid_as
from trueline.pair.ops.edit_places import are_truths, changed_at, constant_at, line_of, made_at, place_of, reshaped_at
from trueline.pair.ops.edits import Edit, EditKind
from trueline.pair.ops.graph_alignment import Beside
from trueline.pair.ops.masks import makes_mask
from trueline.pair.ops.needed import needed
from trueline.pair.ops.op_forms import Done
from trueline.pair.ops.op_graph import Graph, Op
from trueline.pair.ops.parting import Parting, PartingKind
from trueline.pair.ops.reading import Reading
from trueline.pair.ops.rearranging import exchange, rearranged
from trueline.pair.ops.same_values import equal, level
from trueline.pair.ops.sinks import Sink, hide_otherwise, in_other_words, sinks
from trueline.pair.ops.value_words import Named, named

_MOST_EDITS: Final = 8
_NOTHING: Final[Mapping[str, float]] = MappingProxyType({})


_KINDS: Final = {
    EditKind.MISSING: PartingKind.MISSING_OP,
    EditKind.EXTRA: PartingKind.EXTRA_OP,
    EditKind.OTHER: PartingKind.OTHER_OP,
    EditKind.INPUT: PartingKind.OTHER_INPUT,
    EditKind.LAYOUT: PartingKind.OTHER_LAYOUT,
    EditKind.TURNED: PartingKind.OTHER_LAYOUT,
}


def part(
    bench: Graph,
    port: Graph,
    floor: float,
    coarse: Mapping[str, float] = _NOTHING,
    *,
    whole: bool = True,
    right: Collection[str] = (),
) -> list[Parting]:
    """All places where the port parts from the benchmark, in the port's order; none where both do the same.

    ``coarse`` are kinds of operators that one side computes more coarsely, and by how much at most. Only what a
    ``whole`` network gives out has to have its channels where the benchmark's has them. ``right`` are layers that are
    known to be given what they are to be given.
    """
    sides = Beside(Reading(bench, floor), Reading(port, floor), floor, coarse)
    found: dict[object, Parting] = {}
    for sink in sinks(sides.bench.graph, sides.port.graph):
        if sink.name in right or ((sink.name or not whole) and in_other_words(sides, sink)):
            continue
        for parting in _partings(sides, sink):
            # What several layers are given is one value.
            ops = [id(op) for op in (parting.bench_op, parting.port_op) if op is not None]
            found.setdefault((parting.kind, *ops) if ops else _key(parting), parting)
    once = {_key(parting): parting for parting in reversed(list(found.values()))}
    return rearranged(sides, _once_made(sides, list(reversed(once.values()))))


def _once_made(sides: Beside, found: Sequence[Parting]) -> list[Parting]:
    """A value that several take in place of another is changed once, where it is made."""
    left: dict[object, Parting] = {}
    for parting in found:
        key = parting.values if parting.kind is PartingKind.OTHER_INPUT else id(parting)
        first = left.setdefault(key, parting)
        if first is not parting and parting.values is not None and first.line != parting.line:
            left[key] = replace(first, line=made_at(sides.port, parting.values[1]) or first.line)
    return list(left.values())


def _key(parting: Parting) -> tuple[object, ...]:
    """What is to be written where: code that runs several times is changed once."""
    ops = [
        op
        if op is None or op.line is None
        else (op.kind, op.line, str(done.form.settings) if done and done.form else "")
        for op, done in ((parting.bench_op, parting.bench_done), (parting.port_op, parting.port_done))
    ]
    values = () if any(isinstance(op, tuple) for op in ops) else (parting.bench_takes, parting.port_takes)
    if parting.constant:
        # It is changed once, whoever takes it.
        return parting.kind, parting.values, parting.line
    return parting.kind, *ops, *values, parting.operand, parting.line


def _partings(sides: Beside, sink: Sink) -> Iterator[Parting]:
    here, there = sides.bench.base(sink.bench), sides.port.base(sink.port)
    beside = sides.align(here, there)
    found = [change for change in beside.edits if change.kind is not EditKind.COARSE]
    if not found:
        return
    bench_value, port_value = sides.bench.array(here), sides.port.array(there)
    measured = level(port_value, bench_value) if bench_value is not None and port_value is not None else float("inf")
    edits = [change for change in found if change.kind is not EditKind.LAYOUT]
    # An order of axes is changed where it becomes another one.
    edits = needed(sides, edits, (here, there)) or [sides.turned(change) for change in found]
    masks = bench_value is not None and port_value is not None and hide_otherwise(port_value, bench_value)
    if masks or len({change.written or change for change in edits}) > _MOST_EDITS:
        yield Parting(
            PartingKind.OTHER_MASK if masks else PartingKind.UNTOLD,
            sink.name,
            measured,
            masks,
            bench_value,
            port_value,
            line=(made_at(sides.port, there) if masks else constant_at(sides.port, there))
            or sink.line
            or line_of(sides.port.op(there)),
            other_line=(made_at(sides.bench, here) if masks else constant_at(sides.bench, here))
            or sink.other_line
            or line_of(sides.bench.op(here)),
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


def _parting(sides: Beside, sink: Sink, edit: Edit, measured: float, checked: bool) -> Parting:
    bench, port = sides.bench, sides.port
    edit = _with_idle(sides, edit)
    if _are_settled(sides, edit):
        return _of_constants(sides, sink, edit, measured, checked)
    truths = are_truths(sides, edit)
    # What is to be done to a value too is written where that is made.
    missing = edit.kind is EditKind.MISSING
    own = changed_at(port, edit), reshaped_at(port, edit)
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
        _in_the_ports_axes(sides, edit),
        port.done(edit.port_op) if edit.port_op is not None else None,
        named(bench, edit.bench),
        named(port, edit.port),
        place_of(port, edit.port, own, edit.user, sink.line, truths, missing),
        place_of(bench, edit.bench, (line_of(edit.bench_op),), edit.other_user, sink.other_line, truths, missing),
        edit.user,
        _swapped(sides, edit),
        _operand(sides, edit),
        bench.sizes,
        makes_mask(bench, edit.bench),
        _tried(sides, edit),
        _beside(sides, edit),
        _available(sides, edit),
        (edit.bench, edit.port),
        constant=edit.kind is EditKind.INPUT
        and edit.port not in port.graph.maker
        and edit.port not in port.graph.inputs,
    )


def _are_settled(sides: Beside, edit: Edit) -> bool:
    """Whether a constant of the port is another one than the benchmark's."""
    both = sides.bench.array(edit.bench), sides.port.array(edit.port)
    if edit.kind is not EditKind.INPUT or any(array is None or array.size < 2 for array in both):
        return False
    if not (sides.bench.is_settled(edit.bench) and sides.port.is_settled(edit.port)):
        return False
    sources = sides.bench.source(edit.bench), sides.port.source(edit.port)
    held = sources[0] in sides.bench.graph.assigned and sources[1] in sides.port.graph.assigned
    # What the port has elsewhere is another operand; what is true somewhere is told as a mask, where it is computed.
    if not held and any(sides.same(edit.bench, value) for value in sides.port.all):
        return False
    return not are_truths(sides, edit) or sources[1] in sides.port.graph.assigned


def _of_constants(sides: Beside, sink: Sink, edit: Edit, measured: float, checked: bool) -> Parting:
    """Two constants: where they are assigned, else where they are computed or taken."""
    sources = sides.bench.source(edit.bench), sides.port.source(edit.port)
    takers = [op.taken_at if op is not None else None for op in (edit.user, edit.other_user)]
    lines = [
        next((line for line in (constant_at(reading, source), made, used) if line is not None), None)
        for reading, source, made, used in (
            (sides.port, sources[1], line_of(sides.port.op(edit.port)), takers[0] or sink.line),
            (sides.bench, sources[0], line_of(sides.bench.op(edit.bench)), takers[1] or sink.other_line),
        )
    ]
    return Parting(
        PartingKind.OTHER_CONSTANT,
        sink.name,
        measured,
        checked,
        sides.bench.array(edit.bench),
        sides.port.array(edit.port),
        bench_takes=named(sides.bench, sources[0]),
        port_takes=named(sides.port, sources[1]),
        line=lines[0],
        other_line=lines[1],
        user=edit.user,
        masks=makes_mask(sides.bench, edit.bench),
        values=(edit.bench, edit.port),
        whole=sides.same_elements(sources[1], edit.port),
    )


def _in_the_ports_axes(sides: Beside, edit: Edit) -> Done | None:
    """What the benchmark's operator does; over which axes as the port's code counts them, whose channels lie elsewhere.

    Only so two of them can be told apart that both say "axis 1".
    """
    done = sides.bench.done(edit.bench_op) if edit.bench_op is not None else None
    if done is None or done.form is None or edit.bench_op is None or edit.port_op is None:
        return done
    here, there = (
        side.array(op.inputs[0]) if op.inputs else None
        for side, op in ((sides.bench, edit.bench_op), (sides.port, edit.port_op))
    )
    axes = done.form.settings.get("axes", (done.form.settings.get("axis"),))
    if here is None or there is None or not isinstance(axes, tuple) or not all(isinstance(axis, int) for axis in axes):
        return done
    found = axes_in(here.shape, there.shape, [axis for axis in axes if isinstance(axis, int)])
    if not found or not equal(there, laid_as(here, there.shape), sides.floor):
        return done
    settings = {**done.form.settings, **({"axes": found} if "axes" in done.form.settings else {"axis": found[0]})}
    apply = done.form.apply
    form = replace(done.form, settings=settings, apply=lambda value: apply(laid_as(value, here.shape)))
    return replace(done, form=form)


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
    if edit.crossed:
        return True
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
