"""Where the port takes a value whose gradient the benchmark stops there."""

from __future__ import annotations

from typing import Final

from trueline.model.location import Location
from trueline.pair.ops.op_graph import Graph, Op
from trueline.pair.ops.same_values import equal, reordered

_STOPS: Final = "stop_gradient"
# Values of one block that are nearer than this are one, however they were rounded.
_SAME_VALUE: Final = 1e-3


def unstopped_at(bench: Graph, port: Graph, line: Location) -> Location | None:
    """The port's line that takes what the benchmark stops on a line, by what the benchmark makes of it."""
    stopped = [out for op in bench.ops if op.kind == _STOPS and op.line == line for out in op.outputs]
    found = (_taking(bench, port, op, value) for value in stopped for op in bench.ops if value in op.inputs)
    given_out = (
        port.maker[there].line
        for value in stopped
        for here, there in zip(bench.outputs, port.outputs, strict=False)
        if here == value and there in port.maker
    )
    return next((place for place in (*found, *given_out) if place is not None), None)


def _taking(bench: Graph, port: Graph, op: Op, value: int) -> Location | None:
    """The line of the port's operator or layer that does the same with the same value."""
    if op.module is not None:
        place = _calls(bench, op.module).index(op)
        calls = _calls(port, op.module)
        return calls[place].line if place < len(calls) else None
    alike = [
        other
        for other in port.ops
        if other.kind == op.kind and any(_same(bench, value, port, taken) for taken in other.inputs)
    ]
    makes = (other for other in alike if _same(bench, op.outputs[0], port, other.outputs[0]))
    best = next(makes, None) or (alike[0] if len(alike) == 1 else None)
    return best.line if best is not None else None


def _calls(graph: Graph, module: str) -> list[Op]:
    return [op for op in graph.ops if op.module == module]


def _same(bench: Graph, here: int, port: Graph, there: int) -> bool:
    first, second = bench.values[here], port.values[there]
    if first is None or second is None or first.size != second.size:
        return False
    return equal(second, first, _SAME_VALUE) or reordered(second, first, _SAME_VALUE) is not None
