"""The toy's randomness is NumPy's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from trueline.adapters.observer import Tap

NAMES: Final = ()


def fix(seeds: Mapping[str, int], *, deterministic: bool) -> None:
    """It has no generator of its own."""


def watch(tap: Tap) -> None:
    """There is nothing to tell of."""
