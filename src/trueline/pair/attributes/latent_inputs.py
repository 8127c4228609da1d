"""Inputs that show what an ordinary one hides, made from the ordinary one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.pair.attributes.difference import Difference, Modules
from trueline.pair.attributes.reference import Reference
from trueline.pair.blame import Cause

_KNEES: Final = 12.0
_LARGE_FACTOR: Final = 100.0
_ELEMENTWISE: Final = frozenset({"activation"})
_SIZED: Final = frozenset({"resize", "softmax", "shape", "pooling", "convolution", "padding"})
_VARIANCES: Final = ("running_var", "moving_variance", "bn2d.moving_variance")


@dataclass(frozen=True, slots=True)
class Provocation:
    """Inputs for one try; ``tensors`` replace the benchmark's own, by its names."""

    ins: Sequence[Array]
    train: bool = False
    tensors: Mapping[str, Array] = field(default_factory=dict)
    gout: Sequence[Array | None] | None = None


def provocations(modules: Modules, reference: Reference, differences: Sequence[Difference]) -> Iterator[Provocation]:
    """What may show these differences, the likeliest first; floating inputs are changed, all others kept."""
    known = modules.known[0]
    family = known.kind.family if known is not None else ""
    causes = {difference.cause for difference in differences}
    values = [
        value
        for difference in differences
        if difference.cause is Cause.EPS
        for value in (difference.bench, difference.port)
    ]
    epsilons = [float(value) for value in values if isinstance(value, int | float) and value]
    if Cause.MOMENTUM in causes or known is None:
        yield Provocation(reference.ins, train=True)
    if epsilons:
        yield from _small(modules, reference, max(epsilons))
    if family in _ELEMENTWISE or known is None:
        yield Provocation(_each(reference.ins, _knees))
    if family in _SIZED:
        yield from (Provocation(_each(reference.ins, _larger(more))) for more in (1, 2, 3))
    if known is None or family in _ELEMENTWISE:
        yield Provocation(_each(reference.ins, lambda array: array * array.dtype.type(_LARGE_FACTOR)))
    if family == "embedding" and reference.outs:
        yield Provocation(reference.ins, gout=[np.ones_like(array) for array in reference.outs])


def _small(modules: Modules, reference: Reference, eps: float) -> Iterator[Provocation]:
    """A variance near eps: of the input, or of the running statistics."""
    known = modules.known[0]
    small = _each(reference.ins, lambda array: array * array.dtype.type(math.sqrt(eps)))
    statistics = known is not None and known.kind.kind == "batchnorm"
    yield Provocation(small, train=statistics)
    if not statistics:
        return
    size = next((len(array) for name, array in reference.tensors.items() if name in _VARIANCES), 0)
    name = "moving_variance" if modules.frameworks[0] == "mindspore" else "running_var"
    yield Provocation(reference.ins, tensors={name: np.full(size, eps, np.float32)} if size else {})


def _each(ins: Sequence[Array], make: Callable[[Array], Array]) -> list[Array]:
    return [make(array) if array.dtype.kind == "f" and array.size else array for array in ins]


def _knees(array: Array) -> Array:
    """From far below every activation's knees to far above them."""
    return np.linspace(-_KNEES, _KNEES, array.size, dtype=array.dtype).reshape(array.shape)


def _larger(more: int) -> Callable[[Array], Array]:
    """The same values on axes that are longer by ``more``, but for the batch and the channels."""

    def grown(array: Array) -> Array:
        added = [(0, more if axis >= 2 else 0) for axis in range(array.ndim)]
        return np.pad(array, added, mode="reflect" if min(array.shape, default=0) > more else "edge")

    return grown
