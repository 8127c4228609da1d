"""The side's learning-rate schedule, whatever it is written as."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.pair.child.host import Host
from trueline.pair.child.parts import part

_PER_EPOCH: Final = "epoch"
# So many steps are looked at one by one; of longer trainings the beginning, and steps all over.
_ALL: Final = 2000
_FIRST: Final = 200
_SPREAD: Final = 500


def optim_of(host: Host) -> Any:
    """The framework's file on optimizers."""
    return importlib.import_module(f"trueline.adapters.{host.adapter.name}.optim")


class Schedule:
    """A scheduler with steps, a list of rates, or a function of the step; or none, and the optimizer knows its rates.

    It moves on ``every`` so many steps.
    """

    def __init__(self, host: Host, optimizer: Any, what: Any, every: int) -> None:
        self._optim = optim_of(host)
        self._optimizer = optimizer
        self._moves = callable(getattr(what, "step", None))
        self._what = what
        self._listed: list[float] | None = None
        if what is not None and not self._moves and not callable(what):
            values = host.adapter.values
            found = values.to_numpy(what) if values.is_tensor(what) else np.asarray(what)
            self._listed = [float(str(one)) for one in found.reshape(-1)]
        self.every = every

    @property
    def given(self) -> bool:
        """Whether there is one beside the optimizer."""
        return self._what is not None

    def rates(self, at: Sequence[int]) -> list[list[float]]:
        """The rates of all groups at these steps, in rising order, as if no step had been made yet."""
        groups = len(self._optim.settings(self._optimizer))
        if not self.given:
            return [list(one) for one in self._optim.rates(self._optimizer, at)]
        if not self._moves:
            return [[self._rate(step)] * groups for step in at]
        found: list[list[float]] = []
        now = 0
        for step in at:
            while now < step:
                now += 1
                if now % self.every == 0:
                    self._optim.move_on(self._what)
            found.append(list(self._optim.rates(self._optimizer, [step])[0]))
        return found

    def begin(self) -> None:
        """Set the rate of the first step."""
        if self.given and not self._moves:
            self._optim.use_rate(self._optimizer, self._rate(0))

    def after(self, step: int) -> None:
        """Set the rate of the step that follows this one."""
        if self._moves:
            if (step + 1) % self.every == 0:
                self._optim.move_on(self._what)
        elif self.given:
            self._optim.use_rate(self._optimizer, self._rate(step + 1))

    def _rate(self, step: int) -> float:
        place = step // self.every
        if self._listed is not None:
            return self._listed[min(place, len(self._listed) - 1)]
        return float(self._optim.rate_at(self._what, place))


def schedule_of(host: Host, optimizer: Any, steps_per_epoch: int) -> Schedule:
    """The user's schedule; what returns nothing has set the optimizer's rates by itself."""
    make = part(host, "schedule")
    if make is None:
        return Schedule(host, optimizer, None, 1)
    with said_for(host.side, "schedule"):
        every = steps_per_epoch if part(host, "schedule_per") == _PER_EPOCH else 1
        return Schedule(host, optimizer, make(optimizer), every)


def telling_steps(epochs: int, steps_per_epoch: int) -> list[int]:
    """The steps to look at: of a long training some, with those that they are to be compared with."""
    count = epochs * steps_per_epoch
    if count <= _ALL:
        return list(range(count))
    some = np.unique([*range(_FIRST), *np.linspace(0, count - 1, _SPREAD).astype(np.int64), count - 1])
    epoch = some // steps_per_epoch
    together = np.concatenate([some, some - 1, some + 1, some * steps_per_epoch, epoch, epoch * steps_per_epoch])
    return [int(one) for one in np.unique(together) if 0 <= one < count]
