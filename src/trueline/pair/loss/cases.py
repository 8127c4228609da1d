"""Outputs and labels that show what a loss does: ordinary ones, few of them, large and small ones, ignored labels."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from trueline.kernel.array import Array
from trueline.pair.loss.forms import Rows, Wide, sigmoid

_MOST_CLASSES: Final = 16
_MOST_SIDE: Final = 6
_MORE_CLASSES: Final = 3
_PROBE_BATCH: Final = 4
_DEFAULT_CLASSES: Final = 7


class Labels(StrEnum):
    """How labels are given: the number of a class, or one value for each output."""

    INDEX = "index"
    DENSE = "dense"


class Given(StrEnum):
    """What the outputs are."""

    LOGITS = "logits"
    PROBABILITIES = "probabilities"


class CaseName(StrEnum):
    """What a case is there for."""

    PLAIN = "plain"
    UNEVEN = "uneven"
    LARGE = "large"
    ONE = "one"
    SOFT = "soft"
    EXTREME = "extreme"
    IGNORED = "ignored"
    MORE_CLASSES = "more_classes"
    PROBE = "probe"


# What says something of rare data only: a difference there alone is latent.
RARE: Final = (CaseName.EXTREME, CaseName.IGNORED, CaseName.ONE)
# A loss may be made for one number of classes.
OPTIONAL: Final = (CaseName.MORE_CLASSES,)


@dataclass(frozen=True, slots=True)
class Case:
    """One set of outputs and labels; ``axis`` is where the first output's classes lie, None where it has none."""

    name: CaseName
    outputs: tuple[Array, ...]
    index: npt.NDArray[np.int64]
    dense: Array
    axis: int | None

    def labels(self, kind: Labels) -> Array:
        """The labels as a loss wants them."""
        return self.index if kind is Labels.INDEX else self.dense

    def rows(self) -> Rows:
        """As the NumPy forms take it."""
        values = self.as_rows(self.outputs[0])
        return Rows(values, self.as_rows(self.dense), self.index.reshape(-1), len(self.outputs[0]))

    def as_rows(self, array: Array) -> Wide:
        """An array of the first output's shape with the classes last, and the rest as rows."""
        wide = array.astype(np.float64)
        if self.axis is None:
            return wide
        moved = np.moveaxis(wide, self.axis, -1)
        return moved.reshape(-1, moved.shape[-1])


@dataclass(frozen=True, slots=True)
class Layout:
    """The shape of one sample's outputs, the first of which has its classes at ``axis`` (with the batch counted)."""

    shapes: tuple[tuple[int, ...], ...]
    axis: int | None

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return self.shapes[0][self.axis - 1] if self.axis is not None else 1

    def with_classes(self, classes: int) -> Layout:
        """The same with another number of classes."""
        assert self.axis is not None
        first = list(self.shapes[0])
        first[self.axis - 1] = classes
        return Layout((tuple(first), *self.shapes[1:]), self.axis)


def layouts(outputs: Sequence[Array] | None, classes: int | None) -> list[Layout]:
    """Where the classes may lie, the likely place first; without ``outputs`` a plain batch of logits."""
    if not outputs:
        return [Layout(((classes or _DEFAULT_CLASSES,),), 1)]
    first = outputs[0]
    # A large map says no more than a small one; the classes stay as many as they are.
    axes: dict[int, tuple[int | None, ...]] = {1: (None,), 2: (1,), 3: (2, 1)}
    found: list[Layout] = []
    for axis in axes.get(first.ndim, (1, first.ndim - 1)):
        sides = [
            side if place == axis else min(side, _MOST_SIDE) for place, side in enumerate(first.shape[1:], start=1)
        ]
        found.append(Layout((tuple(sides), *(array.shape[1:] for array in outputs[1:])), axis))
    return found


def probes(layout: Layout, given: Given, seed: int) -> Case:
    """A small case that shows whether a loss takes outputs and labels of a kind at all."""
    batch = _PROBE_BATCH if layout.classes != _PROBE_BATCH else _PROBE_BATCH + 1
    return _Making(layout, given, seed).case(CaseName.PROBE, batch, 1.0)


def cases(layout: Layout, given: Given, kind: Labels, ignored: Collection[int], seed: int) -> Iterator[Case]:
    """All cases, those first that a fit is read off; ``ignored`` are labels that may not count, classes or not."""
    making = _Making(layout, given, seed, [one for one in ignored if 0 <= one < layout.classes])
    batch = making.batch
    yield making.case(CaseName.PLAIN, batch, 2.0)
    yield making.case(CaseName.UNEVEN, batch + 3, 1.5, uneven=True)
    yield making.case(CaseName.LARGE, 6, 12.0)
    yield making.case(CaseName.ONE, 1, 1.0)
    if kind is Labels.DENSE:
        yield making.case(CaseName.SOFT, 6, 1.0, soft=True)
    if given is Given.LOGITS:
        yield making.case(CaseName.EXTREME, 6, 300.0)
    if kind is Labels.INDEX and layout.axis is not None:
        for one in (one for one in ignored if not 0 <= one < layout.classes):
            yield making.case(CaseName.IGNORED, batch, 1.0, ignored=one)
    if layout.axis is not None and layout.classes > 1:
        more = _Making(layout.with_classes(layout.classes + _MORE_CLASSES), given, seed)
        # A label that a loss made for fewer classes does not know can end its process.
        more.picked = making.picked
        yield more.case(CaseName.MORE_CLASSES, batch, 2.0)


class _Making:
    def __init__(self, layout: Layout, given: Given, seed: int, wanted: Sequence[int] = ()) -> None:
        self.layout, self.given = layout, given
        self.random = np.random.default_rng(seed)
        classes = layout.classes
        spread = np.linspace(0, classes - 1, min(classes, _MOST_CLASSES)).round().astype(np.int64)
        self.picked = np.union1d(spread, np.asarray(wanted, dtype=np.int64))

    @property
    def batch(self) -> int:
        """So many that each label comes at least three times."""
        inside = [side for place, side in enumerate(self.layout.shapes[0], start=1) if place != self.layout.axis]
        return max(3, math.ceil((3 * len(self.picked) + 1) / max(math.prod(inside), 1)))

    def case(
        self,
        name: CaseName,
        batch: int,
        scale: float,
        *,
        uneven: bool = False,
        soft: bool = False,
        ignored: int | None = None,
    ) -> Case:
        outputs = tuple(self._outputs((batch, *shape), scale) for shape in self.layout.shapes)
        index = self._index(batch, uneven)
        if ignored is not None:
            index.reshape(-1)[::3] = ignored
        return Case(name, outputs, index, self._dense(outputs[0].shape, index, soft), self.layout.axis)

    def _outputs(self, shape: tuple[int, ...], scale: float) -> Array:
        values = self.random.normal(0.0, scale, shape)
        if self.given is Given.PROBABILITIES:
            values = np.clip(sigmoid(values), 1e-3, 1 - 1e-3)
        return values.astype(np.float32)

    def _index(self, batch: int, uneven: bool) -> Any:
        shape = [batch, *self.layout.shapes[0]]
        if self.layout.axis is not None:
            del shape[self.layout.axis]
        count = math.prod(shape)
        found = np.resize(self.picked, count)
        if uneven:
            found[: count // 2] = self.picked[0]
        return self.random.permutation(found).reshape(shape)

    def _dense(self, shape: tuple[int, ...], index: Any, soft: bool) -> Array:
        axis = self.layout.axis
        if soft or axis is None or self.layout.classes == 1:
            drawn = self.random.uniform(0.0, 1.0, shape)
            if axis is not None and self.layout.classes > 1:
                drawn /= drawn.sum(axis, keepdims=True)
            return (drawn if soft else drawn > 0.5).astype(np.float32)
        places = np.arange(self.layout.classes).reshape([-1 if one == axis else 1 for one in range(len(shape))])
        found: Array = (np.expand_dims(index, axis) == places).astype(np.float32)
        return found
