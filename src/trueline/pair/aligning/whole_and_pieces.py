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
    way round. Of one tensor on both sides the port's lies otherwise.
    """

    bench: Sequence[ParamInfo]
    port: Sequence[ParamInfo]
    axis: int
    turned: bool = False

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
