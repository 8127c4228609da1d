"""What a normalised weight is where its network is first called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from trueline.adapters.nouns import Normalised, Unreadable
from trueline.adapters.protocol import Values
from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.record.networks import Place, Root

_MAX_WEIGHTS: Final = 64
_MAX_ELEMENTS: Final = 1 << 20
_ITERATIONS: Final = 40


class NormaliserLook:
    """Looks at each network once."""

    def __init__(self) -> None:
        self._met: set[Root] = set()

    def first_used(self, root: Root) -> Iterator[tuple[Place, dict[str, Json]]]:
        """The place of each normalised weight, and the fields of its event."""
        module, values = root.module(), root.adapter.values
        if root in self._met or module is None:
            return
        self._met.add(root)
        for count, weight in enumerate(values.normalised(module)):
            norm = _norm(weight, values) if count < _MAX_WEIGHTS else None
            if norm is not None:
                yield Place(root, weight.path), {"function": weight.function, "norm": norm, "adapts": weight.adapts}


def _norm(weight: Normalised, values: Values) -> float | None:
    """The largest singular value of the weight after it was divided, from below."""
    try:
        matrix, left, right = (
            values.to_numpy(tensor).astype(np.float64) for tensor in (weight.matrix, weight.left, weight.right)
        )
    except Unreadable:
        return None
    if not matrix.size or matrix.size > _MAX_ELEMENTS:
        return None
    divisor = abs(float(left @ (matrix @ right)))
    largest = _largest_singular_value(matrix)
    return largest / divisor if divisor and np.isfinite(divisor) and np.isfinite(largest) else None


def _largest_singular_value(matrix: Array) -> float:
    vector = np.random.default_rng(0).normal(size=matrix.shape[1])
    for _ in range(_ITERATIONS):
        vector = matrix.T @ (matrix @ vector)
        size = float(np.linalg.norm(vector))
        if not size or not np.isfinite(size):
            return size
        vector = vector / size
    return float(np.linalg.norm(matrix @ vector))
