"""Overriding an optimizer's learning rates for a step."""

from __future__ import annotations

from collections.abc import Sequence

from trueline.adapters.nouns import Optimizer
from trueline.adapters.protocol import HeldRates
from trueline.adapters.torch import values

# What schedulers leave in a group: where they begin, and how far up they go.
_PLANNED = ("initial_lr", "max_lr")


class _Held:
    def __init__(self, optimizer: Optimizer) -> None:
        self._groups = optimizer.param_groups
        self._kept: list[float] | None = None

    def own(self) -> list[float]:
        if self._kept is not None:
            return list(self._kept)
        return [float(group["lr"]) for group in self._groups]

    def peak(self) -> list[float]:
        planned = [[float(group[name]) for name in _PLANNED if name in group] for group in self._groups]
        return [max([rate, *more]) for rate, more in zip(self.own(), planned, strict=True)]

    def use(self, rates: Sequence[float]) -> None:
        self._kept = self.own()
        self._set(rates)

    def release(self) -> None:
        if self._kept is not None:
            self._set(self._kept)
            self._kept = None

    def _set(self, rates: Sequence[float]) -> None:
        for group, rate in zip(self._groups, rates, strict=True):
            if values.is_tensor(group["lr"]):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate


def hold(optimizer: Optimizer) -> HeldRates:
    """Take control of an optimizer's learning rates."""
    return _Held(optimizer)
