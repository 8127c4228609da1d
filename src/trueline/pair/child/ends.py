"""The user's lines on which gradients end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueline.adapters.nouns import OpCall
from trueline.apitable.opkinds import op_kind, op_kinds
from trueline.kernel import fingerprint
from trueline.model.location import Location
from trueline.pair.child.flow import GradientFlow
from trueline.pair.child.host import Host


@dataclass(frozen=True, slots=True)
class _Ran:
    name: str
    inputs: Sequence[Any]
    outputs: Sequence[Any]
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
            before, after = ([self._print(one) for one in tensors] for tensors in (call.inputs, call.outputs))
            self._ran.append(_Ran(call.name, call.inputs, call.outputs, call.line, before, after))

    def lines(self, sinks: Sequence[Any]) -> list[Location]:
        """The lines, in order; ``sinks`` is what came out in the end."""
        return list(dict.fromkeys(line for line in self._found(sinks) if line is not None))

    def _found(self, sinks: Sequence[Any]) -> Iterator[Location | None]:
        # A framework puts copies aside for its own backward: nothing takes them.
        taken = {id(tensor) for one in self._ran for tensor in one.inputs} | {id(tensor) for tensor in sinks}
        made: dict[int, Any] = {}
        with_gradient: set[int] = set()
        for one in self._ran:
            carrying = [self._floating(tensor) and self._flow.carries(tensor) for tensor in one.inputs]
            for tensor, carries, print_ in zip(one.inputs, carrying, one.prints, strict=True):
                if carries:
                    with_gradient.add(print_)
                elif id(tensor) not in made and print_ in with_gradient and self._values.shape(tensor):
                    yield one.line
            floating = [tensor for tensor in one.outputs if self._floating(tensor) and id(tensor) in taken]
            if any(carrying) and floating and not any(map(self._flow.carries, floating)):
                row = op_kinds().get(op_kind(self._framework, one.name))
                if row is None or not row.constant:
                    yield one.line
            made.update((id(tensor), tensor) for tensor in one.outputs)
            for tensor, print_ in zip(one.outputs, one.output_prints, strict=True):
                if self._floating(tensor) and self._flow.carries(tensor):
                    with_gradient.add(print_)

    def _floating(self, tensor: Any) -> bool:
        return "float" in self._values.dtype(tensor)

    def _print(self, tensor: Any) -> int:
        return fingerprint(np.ascontiguousarray(self._values.to_numpy(tensor))) if self._floating(tensor) else 0
