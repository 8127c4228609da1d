"""What the benchmark's module was given and gave, and how far from it the port's module lies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from trueline.apitable.layers import Layer, layer_of_class
from trueline.compare.levels import levels
from trueline.kernel import distance
from trueline.kernel.array import Array
from trueline.model.key import Key, Kind
from trueline.pair.attributes.difference import Modules
from trueline.pair.questions.module_run import Change, Ran

_ESTIMATE: Final = 2e-5


@dataclass(frozen=True, slots=True)
class Reference:
    """One call of the benchmark's module: its inputs and outputs, and in training the gradients and buffers after it.

    ``grads``, ``after`` and ``tensors`` (the module's own parameters and buffers) go by the port's names within the
    module: ``port_leaf`` tells them. ``floor`` is how far noise brings the two, ``floors`` where it is another for a
    kind of tensor.
    """

    ins: Sequence[Array]
    outs: Sequence[Array]
    gout: Sequence[Array | None] | None = None
    gin: Sequence[Array | None] = ()
    grads: Mapping[str, Array] = field(default_factory=dict)
    after: Mapping[str, Array] = field(default_factory=dict)
    tensors: Mapping[str, Array] = field(default_factory=dict)
    train: bool = False
    call: int = 0
    floor: float = _ESTIMATE
    floors: Mapping[Kind, float] = field(default_factory=dict)

    def limit(self, kind: Kind) -> float:
        """How far noise brings a kind of tensor."""
        return self.floors.get(kind, self.floor)


@dataclass(frozen=True, slots=True)
class Judged:
    """How far a run lies from the reference: the largest level, and how many times the noise that is at most."""

    level: float
    excess: float

    @property
    def within(self) -> bool:
        """Whether noise explains it."""
        return self.excess <= 1.0


def judged(ran: Ran, reference: Reference, change: Change | None = None) -> Judged:
    """How far apart they are; gradients of tensors that were replaced for the try are not looked at."""
    if ran.failed or len(ran.outputs) != len(reference.outs):
        return Judged(math.inf, math.inf)
    replaced = change.tensors if change is not None else {}
    found = levels(
        (key, distance(_shaped(array, there), there))
        for key, array, there in _pairs(ran, reference)
        if key.index not in replaced
    )
    excess = max((level / reference.limit(key.kind) for key, level in found.items()), default=0.0)
    return Judged(max(found.values(), default=0.0), excess)


def port_leaf(modules: Modules, leaf: str) -> str:
    """The port's name of a tensor of the benchmark's layer, where the table has both; else the same name."""
    layers: list[Layer | None] = [layer_of_class(name) for name in modules.classes]
    in_torch = leaf
    if modules.frameworks[0] == "mindspore" and layers[0] is not None:
        in_torch = layers[0].torch_leaf(leaf) or leaf
    if modules.frameworks[1] == "mindspore" and layers[1] is not None:
        return layers[1].mindspore_leaf(in_torch) or in_torch
    return in_torch


def by_port_leaf(modules: Modules, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Arrays of the benchmark's module by the port's names."""
    return {port_leaf(modules, name): array for name, array in arrays.items()}


def _pairs(ran: Ran, reference: Reference) -> Iterator[tuple[Key, Array, Array]]:
    yield from _listed(Kind.OUT, ran.outputs, reference.outs)
    yield from _listed(Kind.GIN, ran.gin, reference.gin)
    for kind, ours, theirs in ((Kind.GRAD, ran.grads, reference.grads), (Kind.BUFFER, ran.after, reference.after)):
        for name, array in theirs.items():
            if name in ours and "float" in array.dtype.name:
                yield Key.of("", kind, name), ours[name], array


def _listed(
    kind: Kind, ours: Iterable[Array | None], theirs: Iterable[Array | None]
) -> Iterator[tuple[Key, Array, Array]]:
    for place, (array, values) in enumerate(zip(ours, theirs, strict=False)):
        if array is not None and values is not None and (kind is Kind.OUT or values.dtype.kind != "i"):
            yield Key.of("", kind, place), array, values


def _shaped(first: Array, second: Array) -> Any:
    """A weight that only has another axis of length 1 is the same weight."""
    squeezed = [side for side in first.shape if side != 1] == [side for side in second.shape if side != 1]
    return np.ascontiguousarray(first.reshape(second.shape) if squeezed and first.shape != second.shape else first)
