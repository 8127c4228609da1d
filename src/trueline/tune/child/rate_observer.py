"""The range test from within: before every step the learning rate is set to the next one to be tried."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from trueline.adapters.nouns import Optimizer, Value
from trueline.model.json_value import JsonObject
from trueline.tune.child.observer import ExperimentObserver
from trueline.tune.rates import rate_at

if TYPE_CHECKING:
    from trueline.adapters.protocol import HeldRates

# Three decades to each side of the script's own rate; more than 10 is hardly ever meant.
_DECADES: Final = 3
_MAX_RATE: Final = 10.0
# Where a script has no rate of its own to begin with.
_FROM, _TO = 1e-6, 1.0
_MAX_WATCHED: Final = 4
_MAX_ELEMENTS: Final = 1 << 14


class RateObserver(ExperimentObserver):
    """Scales every group of every optimizer by one factor, and gives the script's own rates back after the step."""

    def __init__(self, *given: Value) -> None:
        super().__init__(*given)
        self._held: dict[int, tuple[HeldRates, list[float]]] = {}
        self._own = 0.0
        self._span = (_FROM, _TO)
        self._watched: list[tuple[Value, Value]] = []

    def began(self, optimizer: Optimizer, update: int) -> None:
        """Set the rates for this step."""
        held, peak = self._hold(optimizer)
        rate = rate_at(self.experiment.settings["shape"], *self._span, update / max(self.experiment.updates - 1, 1))
        factor = rate / self._own if self._own > 0 else None
        now = max(held.own(), default=0.0)
        held.use([own_rate * factor if factor is not None else rate for own_rate in peak])
        if self._is_first(optimizer):
            self.note(rate=rate, own=now)
            self._look(optimizer)

    def ended(self, optimizer: Optimizer, update: int, *, skipped: bool) -> None:
        """Give the script's own back, so that its schedule goes on as it would."""
        del update, skipped
        self._held[id(optimizer)][0].release()
        if self._is_first(optimizer) and self._watched:
            to_numpy = self.adapter.values.to_numpy
            self.note(
                moved=max(
                    float(abs(to_numpy(parameter).astype("f8") - before).max()) for parameter, before in self._watched
                )
            )

    def _hold(self, optimizer: Optimizer) -> tuple[HeldRates, list[float]]:
        if id(optimizer) not in self._held:
            held = self.adapter.rates.hold(optimizer)
            peak = held.peak()
            if not self._held:
                self._begin(optimizer, held, peak)
            self._held[id(optimizer)] = held, peak
            self.teller.tell("rates", optimizer=len(self._held) - 1, kind=type(optimizer).__name__, rates=peak)
        return self._held[id(optimizer)]

    def _begin(self, optimizer: Optimizer, held: HeldRates, peak: list[float]) -> None:
        largest = max(peak, default=0.0)
        self._own = largest if math.isfinite(largest) and largest > 0 else 0.0
        if self._own:
            reach = 10.0**_DECADES
            self._span = self._own / reach, max(min(self._own * reach, _MAX_RATE), self._own * 10)
        settings = self.experiment.settings
        low, high = settings.get("from"), settings.get("to")
        if low is None:
            low = self._span[0] if high is None else min(self._span[0], high / 10)
        if high is None:
            high = max(self._span[1], low * 10)
        self._span = low, high
        first = max(held.own(), default=0.0)
        momentum = _momentum(self.adapter.values.groups(optimizer)[0].settings)
        self.teller.tell("span", own=self._own, first=first, low=low, high=high, momentum=momentum)

    def _is_first(self, optimizer: Optimizer) -> bool:
        return next(iter(self._held), None) == id(optimizer)

    def _look(self, optimizer: Optimizer) -> None:
        """Keep a few small parameters as they are: whether a rate has an effect shows only in what a step does."""
        values = self.adapter.values
        if not self._watched:
            found = [parameter for group in values.groups(optimizer) for parameter in group.parameters]
            fit = [parameter for parameter in found if 0 < math.prod(values.shape(parameter)) <= _MAX_ELEMENTS]
            chosen = fit[:: max(len(fit) // _MAX_WATCHED, 1)][:_MAX_WATCHED]
        else:
            chosen = [parameter for parameter, _ in self._watched]
        self._watched = [(parameter, values.to_numpy(parameter, copy=True).astype("f8")) for parameter in chosen]


def _momentum(settings: JsonObject) -> float:
    """How much of a step goes on in the next one; 0 where nothing is said of it."""
    betas = settings.get("betas")
    known = [settings.get("momentum"), settings.get("beta1"), betas[0] if isinstance(betas, list | tuple) else None]
    return next((float(value) for value in known if isinstance(value, int | float) and 0 < value < 1), 0.0)
