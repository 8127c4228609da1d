"""Partings that together are one: operators and layers that stand elsewhere, values that are exchanged."""

from __future__ import annotations

from dataclasses import replace

from trueline.pair.ops.graph_alignment import Beside
from trueline.pair.ops.parting import Parting, PartingKind
from trueline.pair.ops.same_values import equal


def rearranged(sides: Beside, found: list[Parting]) -> list[Parting]:
    """The same, each mistake once."""
    return _moved_layers(sides, _exchanged(_moved(sides, found)))


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
