"""A parameter or buffer that both sides have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueline.compare.align import Layout
from trueline.kernel.array import Array
from trueline.model.finding import Certainty
from trueline.model.run import ParamInfo


@dataclass(frozen=True, slots=True)
class ParamPair:
    """A parameter or buffer of both sides, by their names in checkpoints; ``layout`` is None where nothing fits."""

    bench: ParamInfo
    port: ParamInfo
    bench_path: str
    port_path: str
    layout: Layout | None
    certainty: Certainty

    def laid(self, array: Array) -> Array:
        """The benchmark's values as the port has them."""
        if self.layout is Layout.TRANSPOSED:
            array = array.T
        return np.ascontiguousarray(array).reshape(self.port.shape)
