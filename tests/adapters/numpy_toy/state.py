"""Randomness and circumstances."""

from __future__ import annotations

from typing import Any

import numpy as np
from adapters.numpy_toy import framework


def seed(seed: int, *, deterministic: bool = True) -> list[str]:
    """Fix the toy's randomness; nothing stays free."""
    framework.set_seed(seed)
    return []


def circumstances() -> dict[str, Any]:
    """As RunInfo wants them."""
    return {
        "versions": {"numpy": np.__version__},
        "device": "cpu",
        "precision": "float32",
        "mode": "eager",
        "seeds": {},
        "flags": {},
    }


def rank() -> tuple[int, int] | None:
    """The toy knows one process only."""
    return None
