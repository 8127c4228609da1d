"""One tensor of a side that is several of the other's, put together along one axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from trueline.kernel.array import Array
from trueline.model.run import ParamInfo
from trueline.pair.questions.described import Described


@dataclass(frozen=True, slots=True)
class Pieces:
    """The tensors of both sides, on one of them a single one; ``axis`` is that of the single one.

    The pieces may have other axes of one element, or lie flat; where ``turned``, they are matrices that lie the other
    way round. Of one tensor on both sides the port's lies otherwise: of the one with fewer axes some are several of the
    other's, which it has in ``order``.
    """

    bench: Sequence[ParamInfo]
    port: Sequence[ParamInfo]
    axis: int
    turned: bool = False
    order: Sequence[int] | None = None

    @property
    def whole(self) -> ParamInfo:
        """The single one."""
        return self.port[0] if len(self.bench) > 1 else self.bench[0]

    @property
    def parts(self) -> Sequence[ParamInfo]:
        """The others, in their order along the axis."""
        return self.bench if len(self.bench) > 1 else self.port

    def bench_paths(self, bench: Described) -> list[str]:
        """The attribute paths of the benchmark's tensors."""
        return [bench.paths.get(parameter.name, parameter.name) for parameter in self.bench]

    def port_paths(self, port: Described) -> list[str]:
        """The attribute paths of the port's tensors."""
        return [port.paths.get(parameter.name, parameter.name) for parameter in self.port]

    def laid(self, weights: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
        """The port's tensors by name, out of the benchmark's."""
        arrays = [weights[parameter.name] for parameter in self.bench]
        if self.order is not None:
            yield self.port[0].name, _reordered(arrays[0], tuple(self.port[0].shape or ()), self.order)
            return
        shape = tuple(self.whole.shape or ())
        slices = [_slice(shape, self.axis, prod(parameter.shape or ())) for parameter in self.parts]
        if len(self.bench) > 1:
            parts = [
                (np.squeeze(array).T if self.turned else array).reshape(part)
                for array, part in zip(arrays, slices, strict=True)
            ]
            yield self.port[0].name, np.ascontiguousarray(np.concatenate(parts, self.axis))
            return
        bounds = np.cumsum([part[self.axis] for part in slices])[:-1]
        for parameter, part in zip(self.port, np.split(arrays[0], bounds, self.axis), strict=True):
            laid = np.squeeze(part).T if self.turned else part
            yield parameter.name, np.ascontiguousarray(laid.reshape(parameter.shape))


def _slice(whole: tuple[int, ...], axis: int, count: int) -> tuple[int, ...]:
    """The shape of so many elements of a tensor, cut along an axis."""
    others = prod(whole[:axis]) * prod(whole[axis + 1 :])
    return (*whole[:axis], count // others, *whole[axis + 1 :])


def _reordered(array: Array, wanted: tuple[int, ...], order: Sequence[int]) -> Array:
    """The array in the other shape, the axes of the one that has more of them in an order."""
    if array.ndim >= len(wanted):
        return np.ascontiguousarray(array.transpose(order).reshape(wanted))
    apart = array.reshape([wanted[axis] for axis in order])
    return np.ascontiguousarray(apart.transpose(np.argsort(order)))
