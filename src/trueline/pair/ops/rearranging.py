"""Partings that together are one: operators and layers that stand elsewhere, values that are exchanged."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from trueline.model.location import Location
from trueline.pair.ops.graph_alignment import Beside
from trueline.pair.ops.parting import Parting, PartingKind
from trueline.pair.ops.reading import Reading
from trueline.pair.ops.same_values import equal
from trueline.pair.ops.value_words import named

_DEEPEST: Final = 12
_PARTING: Final = frozenset({"slice", "split", "index", "gather", "unbind"})


def rearranged(sides: Beside, found: list[Parting]) -> list[Parting]:
    """The same, each mistake once."""
    return _moved_layers(sides, _exchanged(sides, _moved(sides, found)))


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


def _exchanged(sides: Beside, found: list[Parting]) -> list[Parting]:
    """Two values that stand in each other's place are one mistake, wherever they are taken."""
    left: list[Parting] = []
    for parting in found:
        for place, other in enumerate(left):
            if _are_exchanged(sides, other, parting) and other.values is not None and parting.values is not None:
                here, there = zip(other.values, parting.values, strict=True)
                exchanged = exchange(sides, other, here, there)
                if exchanged is not None:
                    left[place] = replace(exchanged, checked=other.checked and parting.checked)
                    break
        else:
            left.append(parting)
    left = [_parts_exchanged(sides, parting) for parting in left]
    return [parting for place, parting in enumerate(left) if not any(_is_known(one, parting) for one in left[:place])]


def _parts_exchanged(sides: Beside, parting: Parting) -> Parting:
    """Two parts of one value, each taken where the benchmark takes the other, are exchanged where they are made."""
    if parting.kind is not PartingKind.OTHER_INPUT or parting.exchanged or parting.values is None:
        return parting
    bench, port = parting.values
    there = next((value for value in sides.bench.all if sides.same(value, port)), None)
    here = next((value for value in sides.port.all if sides.same(bench, value)), None)
    if here is None or there is None or not _are_parts(sides.port, here, port):
        return parting
    if not _users(sides.port, here) & _users(sides.bench, there) - _users(sides.bench, bench):
        return parting
    exchanged = exchange(sides, parting, (bench, there), (port, here))
    return replace(exchanged, line=named(sides.port, port).line) if exchanged is not None else parting


def _are_parts(reading: Reading, first: int, second: int) -> bool:
    """Whether two values are made of one, in the same way, and are less than that."""
    ops = reading.op(first), reading.op(second)
    if ops[0] is None or ops[1] is None or ops[0].kind != ops[1].kind or len(ops[0].inputs) != 1:
        return False
    whole, part = reading.array(ops[0].inputs[0]), reading.array(first)
    alike = reading.inputs(ops[0]) == reading.inputs(ops[1])
    return alike and whole is not None and part is not None and part.size < whole.size


def _users(reading: Reading, value: int) -> set[str]:
    """The kinds of operators that take a value."""
    return {op.kind for op in reading.graph.ops if value in map(reading.base, op.inputs)}


def _is_known(known: Parting, parting: Parting) -> bool:
    """Whether the same two values are exchanged."""
    names = [(one.port_takes, one.available, one.line) for one in (known, parting)]
    return known.exchanged and parting.exchanged and names[0] == names[1]


def _are_exchanged(sides: Beside, first: Parting, second: Parting) -> bool:
    if not (first.kind is second.kind is PartingKind.OTHER_INPUT) or first.exchanged or second.exchanged:
        return False
    if first.values is None or second.values is None or None in (first.available, second.available):
        return False
    return sides.same(first.values[0], second.values[1]) and sides.same(second.values[0], first.values[1])


def exchange(sides: Beside, parting: Parting, bench: tuple[int, int], port: tuple[int, int]) -> Parting | None:
    """Two values of the port that stand in each other's place, as far back as both are made alike; None if not so."""
    here, there = _origins(sides.bench, *bench), _origins(sides.port, *port)
    if not (sides.agree(here[0], there[1]) and sides.agree(here[1], there[0])):
        here, there = bench, port
        if not (sides.agree(here[0], there[1]) and sides.agree(here[1], there[0])):
            return None
    wanted = [named(sides.bench, value) for value in here]
    first, second = (named(sides.port, value) for value in there)
    # Where one line makes both, it has named them otherwise.
    return replace(
        parting,
        kind=PartingKind.OTHER_INPUT,
        exchanged=True,
        swapped=False,
        bench_takes=wanted[0],
        port_takes=first,
        available=second,
        line=_made_at(sides.port, *there) or parting.line,
        other_line=(wanted[0].line if wanted[0].line == wanted[1].line else None) or parting.other_line,
    )


def _made_at(port: Reading, first: int, second: int) -> Location | None:
    """Where two values are made that are parts of one, or by one line: there they have been named otherwise."""
    makers = port.op(first), port.op(second)
    lines = [op.line if op is not None else None for op in makers]
    parted = all(op is not None and op.kind in _PARTING for op in makers)
    whole = [port.base(op.inputs[0]) for op in makers if op is not None and op.inputs]
    return lines[0] if lines[0] == lines[1] or (parted and len(set(whole)) == 1) else None


def _with_effect(reading: Reading, value: int) -> int:
    """The first value of these elements: before operators that have no effect on them."""
    found = reading.base(value)
    while (op := reading.op(found)) is not None and len(op.inputs) == 1:
        done = reading.done(op)
        if done is None or done.form is None or done.form.family != "identity":
            break
        found = reading.base(op.inputs[0])
    return found


def _origins(reading: Reading, first: int, second: int, depth: int = 0) -> tuple[int, int]:
    """Where two values come from that are made alike: parts of one value, outputs of layers."""
    here = _with_effect(reading, first), _with_effect(reading, second)
    ops = reading.op(here[0]), reading.op(here[1])
    if ops[0] is None or ops[1] is None or depth > _DEEPEST:
        return here
    for place, (op, other) in enumerate(((ops[0], ops[1]), (ops[1], ops[0]))):
        if op.kind == "transpose" and other.kind != "transpose":
            # The second factor of a product is turned.
            before = reading.inputs(op)[0]
            return _origins(reading, *((before, here[1]) if place == 0 else (here[0], before)), depth + 1)
    if ops[0] is ops[1] or ops[0].kind != ops[1].kind or len(ops[0].inputs) != len(ops[1].inputs):
        return here
    pairs = zip(reading.inputs(ops[0]), reading.inputs(ops[1]), strict=True)
    found = {_origins(reading, *pair, depth + 1) for pair in pairs if pair[0] != pair[1]}
    return found.pop() if len(found) == 1 else here


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
