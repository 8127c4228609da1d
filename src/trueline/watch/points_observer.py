"""Watchpoints beside a recording: shows them what they ask for, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from trueline.adapters.nouns import Network, Optimizer, Value
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array
from trueline.model.key import Phase
from trueline.record.observers import SilentObserver
from trueline.record.recorded import Recorded
from trueline.watch.points import Need, Points
from trueline.watch.readings import Readings
from trueline.watch.state import Watch


class PointsObserver(SilentObserver):
    """Heard after the recording, which knows the names of modules and parameters."""

    def __init__(self, recorded: Recorded, readings: Readings, watch: Watch, points: Points) -> None:
        self._recorded, self._recorder, self._values = recorded, recorded.recorder, recorded.values
        self._readings, self._watch, self._points = readings, watch, points
        self._needs = points.needs
        self._met = False

    @property
    def _step(self) -> int:
        return self._recorder.boundaries.steps[Phase.TRAIN]

    @property
    def wants_calls(self) -> bool:
        """Every module's calls where what they take or give is wanted."""
        return bool(self._needs & {Need.OUTPUTS, Need.ACTIVATIONS})

    def called(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
        if not self._met and Need.INITIAL in self._needs:
            self._met = True
            self._watch.point_hits += self._points.initial(self._weights())
        if Need.ACTIVATIONS in self._needs:
            self._activated(module, args)

    def _weights(self) -> Iterator[tuple[str, Array]]:
        for network in self._readings.networks():
            for tensor in self._values.tensors(network):
                if tensor.trainable and (array := self._readings.array(tensor.value, tensor.name)) is not None:
                    yield tensor.name, array

    def _activated(self, module: Network, args: Sequence[Value]) -> None:
        place = self._recorded.calls.stack[-1].place if self._recorded.calls.stack else None
        given = next((tensor for _, tensor in leaves(list(args), self._values.is_tensor)), None)
        if place is not None and given is not None:
            kind, array = type(module).__name__, self._readings.array(given, place.path)
            if array is not None:
                self._watch.point_hits += self._points.before_activation(self._step, place.path, kind, array)

    def returned(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value], output: Value) -> None:
        place = self._recorded.calls.returning
        if Need.OUTPUTS not in self._needs or place is None:
            return
        path = place.path
        for _, tensor in leaves(output, self._values.is_tensor):
            array = self._readings.array(tensor, path) if "float" in self._values.dtype(tensor) else None
            if array is not None:
                self._watch.point_hits += self._points.output(self._step, path, type(module).__name__, array)

    def step_began(self, optimizer: Optimizer, gradients: Sequence[tuple[Value, Value]] | None) -> None:
        if Need.GRADIENTS not in self._needs:
            return
        for parameter, gradient in gradients or ():
            name = self._readings.name(parameter)
            array = self._readings.array(gradient, name) if name is not None else None
            if name is not None and array is not None:
                self._watch.point_hits += self._points.gradient(self._step, name, array)

    def step_ended(self, optimizer: Optimizer, skipped: bool) -> None:
        if skipped:
            return
        if Need.WEIGHTS in self._needs:
            self._watch.point_hits += self._points.weights(self._step, self._weights())
        if Need.NORMS in self._needs and self._recorded.updates.norm is not None:
            self._watch.point_hits += self._points.norm(
                self._step, "gradients", self._values.read(self._recorded.updates.norm)
            )
