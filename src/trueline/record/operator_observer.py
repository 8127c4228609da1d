"""Operators of the first step of each phase, forward only: what a step's tensors meet on the way to its loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from trueline.adapters.nouns import Loader, Network, OpCall, Optimizer, Value
from trueline.adapters.tree import leaves
from trueline.record.observers import SilentObserver
from trueline.record.open_step import OpenStep

if TYPE_CHECKING:
    from trueline.record.recorded import Recorded

# A step of more operators is not looked at to its end.
_MAX_OPERATORS: Final = 50_000


class OperatorObserver(SilentObserver):
    """Looks from a step's first call of a network until the step is over, and stands aside for whoever else looks."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded, self._adapter, self._values = recorded, recorded.adapter, recorded.values
        self._boundaries, self._pairs = recorded.recorder.boundaries, recorded.recorder.kept.pairs
        self._receive = recorded.observers.guarded(self._operator)
        self._step: OpenStep | None = None
        self._stop: Callable[[], bool] | None = None
        self._met: set[int] = set()
        self._updating = False
        self._count = 0

    def called(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
        self._end_where_over()
        if len(self._recorded.calls.stack) != 1 or self._boundaries.in_backward:
            return
        if self._boundaries.first_of_phase and self._step is not self._boundaries.open:
            self._begin()
        if self._stop is None:
            return
        self._pairs.batch(self._tensors((args, dict(kwargs))), self._values)
        if id(module) not in self._met:
            self._met.add(id(module))
            self._pairs.parameters([tensor.value for tensor in self._values.tensors(module)], self._values)

    def returned(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value], output: Value) -> None:
        if self._stop is not None and not self._recorded.calls.stack and not self._boundaries.in_backward:
            outputs = self._tensors(output)
            self._pairs.batch(outputs, self._values)
            self._pairs.given(outputs, self._values)

    def fetch_began(self, loader: Loader) -> None:
        self._end_where_over()

    def loader_ended(self, loader: Loader) -> None:
        self._end_where_over()

    def step_began(self, optimizer: Optimizer, gradients: Sequence[tuple[Value, Value]] | None) -> None:
        self._updating = True

    def step_ended(self, optimizer: Optimizer, skipped: bool) -> None:
        self._updating = False

    def turn_off(self, error: Exception) -> None:
        self.end()

    def _begin(self) -> None:
        if self._recorded.recorder.companions or self._stop is not None:
            return
        self._step, self._count = self._boundaries.open, 0
        self._met.clear()
        self._pairs.begin()
        self._stop = self._adapter.ops.begin(self._receive)

    def _end_where_over(self) -> None:
        if self._stop is not None and (self._step is not self._boundaries.open or self._count > _MAX_OPERATORS):
            self.end()

    def end(self) -> None:
        """Look no more, as soon as what the script has begun since is over."""
        if self._stop is not None and self._stop():
            self._stop = None

    def _operator(self, call: OpCall) -> None:
        self._count += 1
        looks = self._step is self._boundaries.open and self._count <= _MAX_OPERATORS
        if looks and not call.backward and not self._updating and not self._boundaries.in_backward:
            self._pairs.operator(call, self._values)

    def _tensors(self, value: Value) -> list[Value]:
        return [tensor for _, tensor in leaves(value, self._values.is_tensor)]
