"""Networks by name, and how far apart their outputs are."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np


def build(factory: str) -> Any:
    """The network of a ``module:factory``."""
    module, _, name = factory.partition(":")
    return getattr(importlib.import_module(module), name)()


def apart(one: list[np.ndarray], other: list[np.ndarray]) -> float:
    """The largest difference, as a share of the largest value."""
    assert [array.shape for array in one] == [array.shape for array in other]
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(one, other, strict=True))
