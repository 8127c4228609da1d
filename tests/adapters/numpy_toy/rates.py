"""The toy's learning rates, which are plain numbers in its groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trueline.adapters.protocol import HeldRates


class _Held:
    def __init__(self, optimizer: Any) -> None:
        self._groups = optimizer.groups
        self._kept: list[float] | None = None

    def own(self) -> list[float]:
        return self._kept or [float(group["lr"]) for group in self._groups]

    def peak(self) -> list[float]:
        return self.own()

    def use(self, rates: Sequence[float]) -> None:
        self._kept = self.own()
        for group, rate in zip(self._groups, rates, strict=True):
            group["lr"] = rate

    def release(self) -> None:
        kept, self._kept = self._kept, None
        for group, rate in zip(self._groups, kept or (), strict=False):
            group["lr"] = rate


def hold(optimizer: Any) -> HeldRates:
    """Take an optimizer's rates in hand."""
    return _Held(optimizer)
