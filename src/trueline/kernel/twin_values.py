"""Any kind of element as doubles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueline.kernel.array import Array
from trueline.kernel.dtypes import Kind


def widen(piece: Array, kind: int) -> Array:
    """The elements as float64, or complex128 where they are complex."""
    if kind == Kind.BF16:
        bits: NDArray[np.uint32] = piece.view(np.uint16).astype(np.uint32) << np.uint32(16)
        return bits.view(np.float32).astype(np.float64)
    if kind == Kind.BOOL:
        truths: NDArray[np.bool_] = piece.view(np.uint8) != 0
        return truths.astype(np.float64)
    return piece.astype(np.complex128 if kind in (Kind.C64, Kind.C128) else np.float64)
