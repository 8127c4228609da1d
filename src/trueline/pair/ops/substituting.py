"""Changes tried in the running block: the benchmark's values put in where the port's operators make others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from trueline.adapters.guest.trouble import SideTrouble
from trueline.apitable.opkinds import op_kinds
from trueline.kernel.array import Array
from trueline.pair.ops.op_graph import Graph
from trueline.pair.ops.parting import Parting, PartingKind
from trueline.pair.ops.sink_levels import sink_levels

# The port's graph, with these values in place of what the operators of these numbers make.
Put = Callable[[Mapping[int, Array]], Graph]


def tried(bench: Graph, port: Graph, floor: float, put: Put, partings: Sequence[Parting]) -> list[Parting]:
    """The same; what could not be computed from operators that are not understood is checked by the block itself.

    All that is to be changed on the way to one layer, or to the output, is changed at once.
    """
    names = {parting.sink for parting in partings if not parting.checked}
    right = {name for name in names if _heals(bench, port, floor, put, name, partings)}
    return [replace(parting, checked=True) if parting.sink in right else parting for parting in partings]


def _heals(bench: Graph, port: Graph, floor: float, put: Put, name: str, partings: Sequence[Parting]) -> bool:
    """Whether the benchmark's values at all partings before a layer give that layer the benchmark's."""
    values: dict[int, Array] = {}
    for parting in partings:
        at = _made_by(port, parting)
        if at is not None and parting.bench_value is not None:
            values[at] = parting.bench_value
        elif parting.sink == name and parting.kind is not PartingKind.OTHER_CONSTANT:
            return False
    if not values:
        return False
    try:
        after = sink_levels(bench, put(values))
    except SideTrouble:
        return False
    wrong = sink_levels(bench, port).beyond(floor)
    mine = {sink for sink in wrong if sink[0] == name}
    return bool(mine) and not mine & after.beyond(floor)


def _made_by(port: Graph, parting: Parting) -> int | None:
    """The number of the operator whose output is the value; none for a view, which is another value's memory."""
    if parting.values is None or parting.bench_value is None or parting.port_value is None:
        return None
    if parting.bench_value.size != parting.port_value.size:
        return None
    for number, op in enumerate(port.ops):
        if op.outputs == (parting.values[1],) and op.module is None:
            row = op_kinds().get(op.kind)
            return None if row is not None and row.view else number
    return None
