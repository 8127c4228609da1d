"""One tensor of a side that is several of the other's, put together along one axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trueline.kernel.array import Array
from trueline.model.run import ParamInfo


@dataclass(frozen=True, slots=True)
class Pieces:
    """The tensors of both sides, on one of them a single one; ``axis`` is that of the single one.

    Where it is not the first, the pieces are matrices that lie the other way round.
    """

    bench: Sequence[ParamInfo]
    port: Sequence[ParamInfo]
    axis: int

    def laid(self, weights: Mapping[str, Array]) -> Iterator[tuple[str, Array]]:
        """The port's tensors by name, out of the benchmark's."""
        arrays = [weights[parameter.name] for parameter in self.bench]
        if len(self.bench) > 1:
            whole = np.concatenate([array.T if self.axis else array for array in arrays], self.axis)
            yield self.port[0].name, np.ascontiguousarray(whole.reshape(self.port[0].shape))
            return
        sizes = [parameter.shape[0] for parameter in self.port]
        bounds = np.cumsum(sizes)[:-1]
        for parameter, part in zip(self.port, np.split(arrays[0], bounds, self.axis), strict=True):
            yield parameter.name, np.ascontiguousarray((part.T if self.axis else part).reshape(parameter.shape))
