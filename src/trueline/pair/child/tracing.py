"""One run in which each layer of this side is found among the benchmark's by what goes into it.

A layer that is found hands on what the benchmark's gave, so that what comes after it can be found too, whatever weights
this side has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations
from typing import Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.nouns import Network, Value
from trueline.adapters.tree import leaves, replaced
from trueline.kernel.array import Array
from trueline.pair.child.calls import held_still, paths_of, tensors_of
from trueline.pair.child.host import Host
from trueline.pair.questions.model import Trace

# Inputs this close, relative to the largest, are the same but for rounding on the way.
_SAME_LEVEL: Final = 1e-3
# Layers whose inputs are as close as the closest, up to this factor or this close, are given the same.
_TIED_FACTOR: Final = 30.0
_TIED_LEVEL: Final = 1e-5
# Of tensors with more axes the orders of them are too many to try.
_MAX_AXES: Final = 5
Lay = Callable[[Array], Array]


def trace(host: Host, question: Trace) -> dict[str, str]:
    """The benchmark's layer of each of this side's, by path."""
    tracing = _Tracing(host, question)
    with (
        said_for(host.side, "running", question.inputs),
        held_still(host, train=False),
        host.adapter.intercept.intercept(tracing.around),
        host.adapter.autograd.without_gradient(),
    ):
        host.model(*tensors_of(host, question.inputs))
    return tracing.counterparts


class _Tracing:
    def __init__(self, host: Host, question: Trace) -> None:
        self._values, self._paths, self._asked = host.adapter.values, paths_of(host), question
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}
        self.counterparts: dict[str, str] = {}

    def around(
        self, module: Network, args: tuple[Value, ...], kwargs: Mapping[str, Value], proceed: Callable[..., Value]
    ) -> Value:
        """One call: which of the benchmark's it is, and what that gave."""
        path = self._paths.get(id(module), "")
        output = proceed(*args, **kwargs)
        if path not in self._asked.candidates:
            return output
        given = next((tensor for _, tensor in leaves((args, kwargs), self._values.is_tensor)), None)
        chosen = self._chosen(path, self._values.to_numpy(given)) if given is not None else None
        if chosen is None:
            return output
        return replaced(output, self._values.is_tensor, self._giving(*chosen))

    def _giving(self, gave: Array, lay: Lay | None) -> Callable[[str, Value], Value]:
        """The first tensor of an output becomes the benchmark's, where it fits."""
        waiting = [gave]

        def give(_: str, tensor: Value) -> Value:
            if not waiting:
                return tensor
            array, shape = waiting.pop(), self._values.shape(tensor)
            laid = lay(array) if lay is not None else array
            if laid.shape != shape:
                if laid.size != np.prod(shape):
                    return tensor
                laid = laid.reshape(shape)
            return self._values.from_numpy(np.ascontiguousarray(laid), like=tensor)

        return give

    def _chosen(self, path: str, array: Array) -> tuple[Array, Lay | None] | None:
        """The benchmark's output, and how it lies in this side's."""
        count = self._counts.get(path, 0)
        self._counts[path] = count + 1
        layer = self.counterparts.get(path) or self._counterpart(path, array)
        if layer is None or count >= len(self._asked.layers[layer]):
            return None
        self.counterparts[path] = layer
        self._taken.add(layer)
        call = self._asked.layers[layer][count]
        return call.gave, _apart(array, call.given)[1]

    def _counterpart(self, path: str, array: Array) -> str | None:
        asked = self._asked
        free = [layer for layer in asked.candidates[path] if layer not in self._taken]
        if not free:
            return None
        levels = {layer: _apart(array, asked.layers[layer][0].given)[0] for layer in free}
        best = min(levels.values())
        if best > _SAME_LEVEL:
            # Names have failed already, and after a fault nothing is given the same.
            return asked.ordered[path] if asked.ordered.get(path) in free else None
        same = [layer for layer in free if levels[layer] <= max(_TIED_FACTOR * best, _TIED_LEVEL)]
        return asked.likely[path] if asked.likely.get(path) in same else same[0]


def _apart(array: Array, ref: Array) -> tuple[float, Lay | None]:
    """How far apart two arrays are relative to the second's largest, however their axes lie; and how they do."""
    if array.shape == ref.shape:
        return _level(array, ref), None
    if array.size != ref.size or not ref.size:
        return float("inf"), None
    lays: list[tuple[float, Lay]] = []
    if array.ndim == ref.ndim <= _MAX_AXES:
        for axes in permutations(range(ref.ndim)):
            if tuple(ref.shape[axis] for axis in axes) == array.shape:
                lays.append((_level(array, ref.transpose(axes)), _transposing(axes)))
    lays.append((_level(array, ref.reshape(array.shape)), lambda laid: laid))
    return min(lays, key=lambda lay: lay[0])


def _transposing(axes: tuple[int, ...]) -> Lay:
    return lambda laid: laid.transpose(axes) if laid.ndim == len(axes) else laid


def _level(array: Array, ref: Array) -> float:
    if array.dtype.kind in "biu" or ref.dtype.kind in "biu":
        return 0.0 if np.array_equal(array, ref) else float("inf")
    scale = float(np.abs(ref).max(initial=0.0)) or 1.0
    level = float(np.abs(array.astype(np.float32) - ref.astype(np.float32)).max(initial=0.0)) / scale
    return level if np.isfinite(level) else float("inf")
