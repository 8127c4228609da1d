"""The numbers that outputs are multiplied with before gradients are taken: the same in every framework."""

from __future__ import annotations

import math

import numpy as np

from trueline.kernel.array import Array


def cotangent(shape: tuple[int, ...]) -> Array:
    """Numbers between 0.5 and 1.5 without a pattern, so that no gradient cancels by symmetry."""
    count = math.prod(shape)
    return (0.5 + np.arange(1, count + 1) * 0.6180339887498949 % 1.0).astype(np.float32).reshape(shape)
