"""What watchpoints want to see of a training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trueline.adapters.nouns import Unreadable
from trueline.adapters.protocol import Adapter
from trueline.adapters.tree import leaves
from trueline.kernel import UnsupportedDtype, summarise
from trueline.kernel.array import Array
from trueline.model.key import Phase
from trueline.model.summary import Summary
from trueline.record.feed import Feed
from trueline.record.guard import guarded
from trueline.record.recorder import Recorder
from trueline.watch.points import Need
from trueline.watch.state import Watch


class PointsFeed(Feed):
    """A recording's feed that shows watchpoints what they need, and nothing else."""

    def __init__(self, recorder: Recorder, adapter: Adapter, watch: Watch) -> None:
        super().__init__(recorder, adapter)
        self._watch = watch
        self._needs = watch.points.needs if watch.points is not None else frozenset()
        self._met = False

    @property
    def _step(self) -> int:
        return self._recorder.steps[Phase.TRAIN]

    @property
    def wants_calls(self) -> bool:
        """Every module's calls where what they take or give is wanted."""
        return bool(self._needs & {Need.OUTPUTS, Need.ACTIVATIONS}) or super().wants_calls

    def _networks(self) -> Iterator[Any]:
        return (module for root, module in self._recorder.networks.alive() if root.adapter is self._adapter)

    def called(self, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        super().called(module, args, kwargs)
        if not self._met and Need.INITIAL in self._needs:
            self._meet()
        if Need.ACTIVATIONS in self._needs:
            self._activated(module, args)

    @guarded
    def _meet(self) -> None:
        self._met = True
        if self._watch.points is not None:
            self._watch.point_hits += self._watch.points.initial(self._weights())

    def _weights(self) -> Iterator[tuple[str, Any]]:
        for network in self._networks():
            for one in self._values.tensors(network):
                if one.trainable and (array := self._read(one.value, one.name)) is not None:
                    yield one.name, array

    @guarded
    def _activated(self, module: Any, args: Sequence[Any]) -> None:
        points, place = self._watch.points, self._stack[-1][1] if self._stack else None
        given = next((one for _, one in leaves(list(args), self._values.is_tensor)), None)
        if points is not None and place is not None and given is not None:
            kind, array = type(module).__name__, self._read(given, place.path)
            if array is not None:
                self._watch.point_hits += points.before_activation(self._step, place.path, kind, array)

    def returned(self, module: Any, args: Sequence[Any], kwargs: Mapping[str, Any], output: Any) -> None:
        if Need.OUTPUTS in self._needs and self._stack and not self._recorder.in_backward:
            self._put_out(module, output)
        super().returned(module, args, kwargs, output)

    @guarded
    def _put_out(self, module: Any, output: Any) -> None:
        points, place = self._watch.points, self._stack[-1][1]
        if points is None or place is None or self._stack[-1][0] is not module:
            return
        for _, tensor in leaves(output, self._values.is_tensor):
            array = self._read(tensor, place.path) if "float" in self._values.dtype(tensor) else None
            if array is not None:
                self._watch.point_hits += points.output(self._step, place.path, type(module).__name__, array)

    def step_began(self, optimizer: Any, gradients: Sequence[tuple[Any, Any]] | None) -> None:
        super().step_began(optimizer, gradients)
        if Need.GRADIENTS in self._needs:
            self._pulled(gradients or ())

    @guarded
    def _pulled(self, gradients: Sequence[tuple[Any, Any]]) -> None:
        points = self._watch.points
        for parameter, gradient in gradients:
            named = self._recorder.parameters.find(parameter)
            if points is not None and named is not None:
                name = ".".join(one for one in (named.place.path, named.leaf) if one)
                array = self._read(gradient, name)
                if array is not None:
                    self._watch.point_hits += points.gradient(self._step, name, array)

    def step_ended(self, optimizer: Any, skipped: bool) -> None:
        super().step_ended(optimizer, skipped)
        if not skipped and self._needs & {Need.WEIGHTS, Need.NORMS}:
            self._updated()

    @guarded
    def _updated(self) -> None:
        points = self._watch.points
        if points is not None and Need.WEIGHTS in self._needs:
            self._watch.point_hits += points.weights(self._step, self._weights())
        if points is not None and Need.NORMS in self._needs and self._norm is not None:
            self._watch.point_hits += points.norm(self._step, "gradients", self._values.read(self._norm))

    def _read(self, tensor: Any, where: str) -> Array | None:
        """A tensor's values; where they cannot be looked at, that is said."""
        try:
            return self._values.to_numpy(tensor)
        except Unreadable:
            self._unwatched(where or type(tensor).__name__)
            return None

    def _unwatched(self, where: str) -> None:
        self.notice("record.unwatched", module=where)

    def _summary(self, tensor: Any) -> Summary | None:
        try:
            return summarise(self._values.to_numpy(tensor)) if "float" in self._values.dtype(tensor) else None
        except (Unreadable, UnsupportedDtype, ValueError):
            return None
