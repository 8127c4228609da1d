"""The user's lines on which gradients end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trueline.adapters.nouns import OpCall, Value
from trueline.apitable.opkinds import op_kind, op_kinds
from trueline.kernel import fingerprint
from trueline.model.location import Location
from trueline.pair.child.gradient_flow import GradientFlow
from trueline.pair.child.host import Host


@dataclass(frozen=True, slots=True)
class _Ran:
    """An operator as it ran, with the fingerprints of what it took and gave."""

    name: str
    inputs: Sequence[Value]
    outputs: Sequence[Value]
    line: Location | None
    prints: Sequence[int]
    output_prints: Sequence[int]


class Ends:
    """Hears of operators as they run, and says afterwards where a gradient could not go on.

    That is an operator that takes values with a gradient and gives none with one, though it could; or one that takes a
    value from nowhere that equals one with a gradient, which has gone through NumPy or been copied.
    """

    def __init__(self, host: Host, flow: GradientFlow) -> None:
        self._values, self._framework, self._flow = host.adapter.values, host.adapter.name, flow
        self._ran: list[_Ran] = []
        self._listening = False

    def listen(self, on: bool) -> None:
        """Whether what runs now counts."""
        self._listening = on

    def op(self, call: OpCall) -> None:
        """An operator has run."""
        if self._listening and not call.backward:
            before, after = ([self._print(tensor) for tensor in tensors] for tensors in (call.inputs, call.outputs))
            self._ran.append(_Ran(call.name, call.inputs, call.outputs, call.line, before, after))

    def lines(self, sinks: Sequence[Value]) -> list[Location]:
        """The lines, in order; ``sinks`` is what came out in the end."""
        return list(dict.fromkeys(line for line in self._found(sinks) if line is not None))

    def _found(self, sinks: Sequence[Value]) -> Iterator[Location | None]:
        # A framework puts copies aside for its own backward: nothing takes them.
        taken = {id(tensor) for op in self._ran for tensor in op.inputs} | {id(tensor) for tensor in sinks}
        made: dict[int, Value] = {}
        with_gradient: set[int] = set()
        for op in self._ran:
            carrying = [self._floating(tensor) and self._flow.carries(tensor) for tensor in op.inputs]
            for tensor, carries, print_ in zip(op.inputs, carrying, op.prints, strict=True):
                if carries:
                    with_gradient.add(print_)
                elif id(tensor) not in made and print_ in with_gradient and self._values.shape(tensor):
                    yield op.line
            floating = [tensor for tensor in op.outputs if self._floating(tensor) and id(tensor) in taken]
            if any(carrying) and floating and not any(map(self._flow.carries, floating)):
                row = op_kinds().get(op_kind(self._framework, op.name))
                if row is None or not row.constant:
                    yield op.line
            made.update((id(tensor), tensor) for tensor in op.outputs)
            for tensor, print_ in zip(op.outputs, op.output_prints, strict=True):
                if self._floating(tensor) and self._flow.carries(tensor):
                    with_gradient.add(print_)

    def _floating(self, tensor: Value) -> bool:
        return "float" in self._values.dtype(tensor)

    def _print(self, tensor: Value) -> int:
        return fingerprint(np.ascontiguousarray(self._values.to_numpy(tensor))) if self._floating(tensor) else 0
