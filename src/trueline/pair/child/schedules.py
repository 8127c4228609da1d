"""The side's learning-rate schedule, whatever it is written as."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Final, Protocol, cast

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.nouns import Group, Optimizer, Value
from trueline.kernel.array import Array
from trueline.pair.child.host import Host, UserObject
from trueline.pair.child.parts import value_of

_PER_EPOCH: Final = "epoch"
# So many steps are looked at one by one; of longer trainings the first ones, and some spread over all.
_MAX_STEPS: Final = 2000
_FIRST_STEPS: Final = 200
_SPREAD_STEPS: Final = 500


class Optim(Protocol):
    """The adapters' ``optim``."""

    def is_optimizer(self, value: UserObject) -> bool:
        """Whether this is an optimizer of the framework's."""
        ...

    def settings(self, optimizer: Optimizer) -> list[Group]:
        """Its groups."""
        ...

    def dynamic(self, optimizer: Optimizer) -> bool:
        """Whether it changes its rates by itself."""
        ...

    def plain_sgd(self, parameters: Sequence[Value], rate: float) -> Optimizer:
        """The simplest optimizer there is."""
        ...

    def use_rate(self, optimizer: Optimizer, rate: float) -> bool:
        """Set the rate of all groups; False where that is not possible."""
        ...

    def step(self, optimizer: Optimizer, gradients: Mapping[int, Array]) -> None:
        """One step with these gradients, by the identity of their parameter."""
        ...

    def rates(self, optimizer: Optimizer, steps: Sequence[int]) -> list[list[float]]:
        """The rates of all groups at these steps."""
        ...

    def rate_at(self, schedule: UserObject, place: int) -> float:
        """What a schedule that is a function says of a step."""
        ...

    def move_on(self, schedule: UserObject) -> None:
        """One step of a scheduler."""
        ...


def optim_of(host: Host) -> Optim:
    """The framework's file on optimizers."""
    return cast(Optim, importlib.import_module(f"trueline.adapters.{host.adapter.name}.optim"))


class Schedule:
    """A scheduler with steps, a list of rates, or a function of the step; or none, and the optimizer knows its rates.

    It moves on ``every`` so many steps.
    """

    def __init__(self, host: Host, optimizer: Optimizer, schedule: UserObject, every: int) -> None:
        self._optim = optim_of(host)
        self._optimizer = optimizer
        self._moves = callable(getattr(schedule, "step", None))
        self._schedule = schedule
        self._listed: list[float] | None = None
        if schedule is not None and not self._moves and not callable(schedule):
            values = host.adapter.values
            listed = values.to_numpy(schedule) if values.is_tensor(schedule) else np.asarray(schedule)
            self._listed = [float(str(rate)) for rate in listed.reshape(-1)]
        self.every = every

    @property
    def given(self) -> bool:
        """Whether there is one beside the optimizer."""
        return self._schedule is not None

    def rates(self, at: Sequence[int]) -> list[list[float]]:
        """The rates of all groups at these steps, in rising order, as if no step had been made yet."""
        groups = len(self._optim.settings(self._optimizer))
        if not self.given:
            return self._optim.rates(self._optimizer, at)
        if not self._moves:
            return [[self._rate(step)] * groups for step in at]
        rates: list[list[float]] = []
        now = 0
        for step in at:
            while now < step:
                now += 1
                if now % self.every == 0:
                    self._optim.move_on(self._schedule)
            rates.append(list(self._optim.rates(self._optimizer, [step])[0]))
        return rates

    def begin(self) -> None:
        """Set the rate of the first step."""
        if self.given and not self._moves:
            self._optim.use_rate(self._optimizer, self._rate(0))

    def after(self, step: int) -> None:
        """Set the rate of the step that follows this one."""
        if self._moves:
            if (step + 1) % self.every == 0:
                self._optim.move_on(self._schedule)
        elif self.given:
            self._optim.use_rate(self._optimizer, self._rate(step + 1))

    def _rate(self, step: int) -> float:
        place = step // self.every
        if self._listed is not None:
            return self._listed[min(place, len(self._listed) - 1)]
        return float(self._optim.rate_at(self._schedule, place))


def schedule_of(host: Host, optimizer: Optimizer, steps_per_epoch: int) -> Schedule:
    """The user's schedule; what returns nothing has set the optimizer's rates by itself."""
    make = value_of(host, "schedule")
    if make is None:
        return Schedule(host, optimizer, None, 1)
    with said_for(host.side, "schedule"):
        every = steps_per_epoch if value_of(host, "schedule_per") == _PER_EPOCH else 1
        return Schedule(host, optimizer, make(optimizer), every)


def sampled_steps(epochs: int, steps_per_epoch: int) -> list[int]:
    """The steps to look at: of a long training some, with those that they are to be compared with."""
    count = epochs * steps_per_epoch
    if count <= _MAX_STEPS:
        return list(range(count))
    some = np.unique([*range(_FIRST_STEPS), *np.linspace(0, count - 1, _SPREAD_STEPS).astype(np.int64), count - 1])
    epoch = some // steps_per_epoch
    together = np.concatenate([some, some - 1, some + 1, some * steps_per_epoch, epoch, epoch * steps_per_epoch])
    return [int(step) for step in np.unique(together) if 0 <= step < count]
