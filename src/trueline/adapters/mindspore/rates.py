"""Overriding an optimizer's learning rates for a step, in PyNative and graph mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import mindspore as ms
import numpy as np
from mindspore import nn

from trueline.adapters.mindspore import values
from trueline.adapters.mindspore.internals import LISTED_RATES, LearningRateSchedule
from trueline.adapters.mindspore.optimizers import rate_now, short, steps_done
from trueline.adapters.mindspore.wrappers import OPTIMIZERS
from trueline.adapters.nouns import Foreign, Optimizer, Value
from trueline.adapters.protocol import HeldRates
from trueline.kernel.array import Array

_numbers = count()
# Where a schedule that is computed may have its largest value.
_PROBED_STEPS = (0, *(2**power for power in range(21)))


class _Constant(LearningRateSchedule):  # type: ignore[misc]
    """A schedule that gives what its parameter holds.

    MindSpore's own such cell adds one and takes it away again, which leaves nothing of a small rate.
    """

    def __init__(self, rate: float) -> None:
        super().__init__()
        # Two parameters of one graph must not be called alike.
        self.learning_rate = ms.Parameter(ms.Tensor(rate, ms.float32), f"trueline_rate_{next(_numbers)}")
        self.one = ms.Tensor(1.0, ms.float32)

    def construct(self, global_step):  # type: ignore[no-untyped-def]  # noqa: ARG002
        """The rate."""
        return self.learning_rate * self.one


class _HeldInGroups:
    """Rates of an optimizer with torch-style parameter groups."""

    def __init__(self, optimizer: Optimizer) -> None:
        self._groups = optimizer.param_groups
        self._kept: list[float] | None = None

    def own(self) -> list[float]:
        return self._kept or [_plain(group["lr"]) for group in self._groups]

    def peak(self) -> list[float]:
        planned = [_plain(group.get("initial_lr", 0.0)) for group in self._groups]
        return [max(pair) for pair in zip(self.own(), planned, strict=True)]

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
                values.assign(group["lr"], np.asarray(rate, np.float32))
            else:
                group["lr"] = rate
            if "lr_float" in group:
                group["lr_float"] = rate


class _HeldInCell:
    """Of an optimizer whose rates are parameters, lists or schedules.

    A parameter is overwritten for the step. A schedule that is computed is replaced by a constant one for good, since
    it may be compiled into a graph with the first step; what it would have given is still asked of it.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer
        self._own = list({id(rate): rate for rate in _each(optimizer)}.values())
        self._used: list[Foreign] = []
        self._kept: list[Array | None] | None = None

    def own(self) -> list[float]:
        kept = self._kept or [None] * len(self._own)
        return [self._now(rate, array) for rate, array in zip(self._own, kept, strict=True)]

    def _now(self, rate: Foreign, kept: Array | None) -> float:
        if kept is None:
            return rate_now(self._optimizer, rate) or 0.0
        listed = kept.reshape(-1)
        return short(listed[min(steps_done(self._optimizer), len(listed) - 1)])

    def peak(self) -> list[float]:
        return [max(rate, *_planned(schedule)) for rate, schedule in zip(self.own(), self._own, strict=True)]

    def use(self, rates: Sequence[float]) -> None:
        if not self._used:
            self._used = [rate if _parameter(rate) is not None else _Constant(0.0) for rate in self._own]
            _replace(self._optimizer, {id(rate): new for rate, new in zip(self._own, self._used, strict=True)})
        if self._kept is None:
            self._kept = [
                values.to_numpy(held, copy=True) if (held := _parameter(rate)) is not None else None
                for rate in self._own
            ]
        for used, rate in zip(self._used, rates, strict=True):
            held = used.learning_rate if isinstance(used, _Constant) else _parameter(used)
            values.assign(held, np.full(values.shape(held), rate, np.float32))

    def release(self) -> None:
        for own_rate, kept in zip(self._own, self._kept or (), strict=False):
            if kept is not None:
                values.assign(_parameter(own_rate), kept)
        self._kept = None


def hold(optimizer: Optimizer) -> HeldRates:
    """Take control of an optimizer's learning rates."""
    while isinstance(getattr(optimizer, "opt", None), OPTIMIZERS):
        # LARS has no rate of its own.
        optimizer = optimizer.opt
    return _HeldInGroups(optimizer) if hasattr(optimizer, "param_groups") else _HeldInCell(optimizer)


def _each(optimizer: Optimizer) -> Iterator[Foreign]:
    yield from optimizer.learning_rate if optimizer.is_group_lr else [optimizer.learning_rate]


def _parameter(rate: Foreign) -> Value:
    """The parameter that holds a rate or a list of rates; None for a computed schedule."""
    if isinstance(rate, ms.Parameter):
        return rate
    if type(rate).__name__ == LISTED_RATES:
        return rate.learning_rate
    return None


def _planned(rate: Foreign) -> list[float]:
    held = _parameter(rate)
    if held is not None:
        return [short(values.to_numpy(held).max())]
    return [_plain(rate.construct(ms.Tensor([step], ms.int32))) for step in _PROBED_STEPS]


def _plain(rate: Foreign) -> float:
    return short(values.to_numpy(rate).reshape(-1)[0]) if values.is_tensor(rate) else float(rate)


def _replace(optimizer: Optimizer, new: dict[int, Foreign]) -> None:
    if not optimizer.is_group_lr:
        optimizer.learning_rate = new[id(optimizer.learning_rate)]
        return
    if isinstance(optimizer.learning_rate, nn.CellList):
        for place, rate in enumerate(list(optimizer.learning_rate)):
            optimizer.learning_rate[place] = new[id(rate)]
        optimizer.group_lr = [new[id(rate)] for rate in optimizer.group_lr]
