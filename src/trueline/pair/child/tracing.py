"""One run in which each layer of this side is found among the benchmark's by what goes into it.

A layer that is found hands on what the benchmark's gave, so that what comes after it can be found too, whatever weights
this side has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations
from typing import Any, Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.wire import Content
from trueline.adapters.tree import leaves, replaced
from trueline.kernel.array import Array
from trueline.pair.child.calls import held_still, paths_of, tensors_of
from trueline.pair.child.host import Answer, Host

# Inputs this close, relative to the largest, are the same but for rounding on the way.
_SAME: Final = 1e-3
_TIED: Final = 30.0
_AXES: Final = 5
Lay = Callable[[Array], Array]


def answer_trace(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """Which of the benchmark's ``layers`` each of this side's is; ``may`` are those that could be, in their order.

    ``likely`` says which, of several that are given the same, ``ordered`` which it is where none is.
    """
    inputs, known = arrays[: content["inputs"]], arrays[content["inputs"] :]
    tracing = _Tracing(host, content, known)
    with (
        said_for(host.side, "running", inputs),
        held_still(host, train=False),
        host.adapter.intercept.intercept(tracing.around),
        host.adapter.autograd.without_gradient(),
    ):
        host.model(*tensors_of(host, inputs))
    return {"found": tracing.found}, []


class _Tracing:
    def __init__(self, host: Host, content: Content, known: list[Array]) -> None:
        self._values, self._paths, self._known = host.adapter.values, paths_of(host), known
        self._may: Mapping[str, list[str]] = content["may"]
        self._likely: Mapping[str, str] = content["likely"]
        self._ordered: Mapping[str, str] = content["ordered"]
        self._calls: Mapping[str, list[list[int]]] = content["layers"]
        self._taken: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self.found: dict[str, str] = {}

    def around(self, module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], proceed: Callable[..., Any]) -> Any:
        """One call: which of the benchmark's it is, and what that gave."""
        path = self._paths.get(id(module), "")
        output = proceed(*args, **kwargs)
        if path not in self._may:
            return output
        given = next((one for _, one in leaves((args, kwargs), self._values.is_tensor)), None)
        chosen = self._chosen(path, self._values.to_numpy(given)) if given is not None else None
        if chosen is None:
            return output
        place, lay = chosen
        return replaced(output, self._values.is_tensor, self._giving(place, lay))

    def _giving(self, place: int, lay: Lay | None) -> Callable[[str, Any], Any]:
        """The first tensor of an output becomes the benchmark's, where it fits."""
        waiting = [self._known[place]]

        def give(_: str, tensor: Any) -> Any:
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

    def _chosen(self, path: str, array: Array) -> tuple[int, Lay | None] | None:
        """Where the benchmark's output lies, and how it lies in this side's."""
        count = self._counts.get(path, 0)
        self._counts[path] = count + 1
        other = self.found.get(path) or self._counterpart(path, array)
        if other is None or count >= len(self._calls[other]):
            return None
        self.found[path] = other
        self._taken[other] = path
        given, gave = self._calls[other][count]
        return gave, _apart(array, self._known[given])[1]

    def _counterpart(self, path: str, array: Array) -> str | None:
        free = [one for one in self._may[path] if one not in self._taken]
        if not free:
            return None
        levels = {one: _apart(array, self._known[self._calls[one][0][0]])[0] for one in free}
        best = min(levels.values())
        if best > _SAME:
            # Names have failed already, and after a fault nothing is given the same.
            return self._ordered[path] if self._ordered.get(path) in free else None
        same = [one for one in free if levels[one] <= max(_TIED * best, 1e-5)]
        return self._likely[path] if self._likely.get(path) in same else same[0]


def _apart(array: Array, ref: Array) -> tuple[float, Lay | None]:
    """How far apart two arrays are relative to the second's largest, however their axes lie; and how they do."""
    if array.shape == ref.shape:
        return _level(array, ref), None
    if array.size != ref.size or not ref.size:
        return float("inf"), None
    found: list[tuple[float, Lay]] = []
    if array.ndim == ref.ndim <= _AXES:
        for axes in permutations(range(ref.ndim)):
            if tuple(ref.shape[axis] for axis in axes) == array.shape:
                found.append((_level(array, ref.transpose(axes)), _transposing(axes)))
    found.append((_level(array, ref.reshape(array.shape)), lambda one: one))
    return min(found, key=lambda one: one[0])


def _transposing(axes: tuple[int, ...]) -> Lay:
    return lambda one: one.transpose(axes) if one.ndim == len(axes) else one


def _level(array: Array, ref: Array) -> float:
    if array.dtype.kind in "biu" or ref.dtype.kind in "biu":
        return 0.0 if np.array_equal(array, ref) else float("inf")
    scale = float(np.abs(ref).max(initial=0.0)) or 1.0
    found = float(np.abs(array.astype(np.float32) - ref.astype(np.float32)).max(initial=0.0)) / scale
    return found if np.isfinite(found) else float("inf")
