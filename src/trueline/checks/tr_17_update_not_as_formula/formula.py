"""An optimizer's first updates against its formula."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.model.events import Moved, UpdateEvent
from trueline.model.json_value import Json
from trueline.pair.update.fit import Trial, fits

# Optimizers that do what their name says, in either framework.
_NAMED: Final = frozenset((*("SGD", "Momentum", "Adam", "AdamW", "AdamWeightDecay", "RMSprop", "RMSProp"), "Adagrad"))
# Of so many updates a standing counter is no other than a moving one.
_TOLD_APART: Final = 3
# Settings that the formulas do not know, where they are on.
_CLOSE: Final = 1e-2  # of a step's length: what the formulas of one name differ by is more
_RATES: Final = ("lr", "initial_lr")
_UNKNOWN: Final = ("lr_decay", "grad_centralization", "fused", "initial_accumulator_value")


@dataclass(frozen=True, slots=True)
class Followed:
    """The updates of one group's elements, row by row."""

    weights: Array
    gradients: Array
    after: Array
    rates: Sequence[float]
    settings: Mapping[str, Json]
    cuts: Sequence[int]
    dtypes: Sequence[str]
    names: Sequence[str]

    def is_explained(self, kind: str, updates: int) -> bool:
        """Whether the first so many updates are what the formula of this name gives, in any of its ways."""
        tiny = np.zeros(self.weights.shape, bool)
        rates = self.rates[:updates]
        trial = Trial(self.weights, self.gradients[:updates], rates, self.cuts, self.dtypes, tiny)
        return bool(fits(trial, self.after[:updates], kind, [self.settings] * len(self.names), limit=_CLOSE))

    def deviates_at(self, kind: str) -> int | None:
        """The first update that the formula does not give."""
        if kind not in _NAMED or self.is_explained(kind, len(self.rates)):
            return None
        return next((update for update in range(len(self.rates)) if not self.is_explained(kind, update + 1)), None)

    def stands_still(self) -> bool:
        """Whether every update of an Adam corrects its means as the first one does."""
        betas, eps = self.settings.get("betas"), self.settings.get("eps", self.settings.get("epsilon", 1e-8))
        pair = betas if isinstance(betas, list) else [self.settings.get("beta1"), self.settings.get("beta2")]
        numbers = [float(beta) for beta in (*pair, eps) if isinstance(beta, int | float)]
        if len(self.rates) < _TOLD_APART or len(numbers) != 3 or not all(0 < beta < 1 for beta in numbers[:2]):
            return False
        if self.is_explained("Adam", len(self.rates)):
            return False
        decay = self.settings.get("weight_decay", 0.0)
        decays = (0.0, float(decay)) if isinstance(decay, int | float) and decay else (0.0,)
        ways = [(0.0, 0.0), *((part, 0.0) for part in decays[1:]), *((0.0, part) for part in decays[1:])]
        beta1, beta2, small = numbers
        return any(self._is_still(beta1, beta2, small, *way) for way in ways)

    def _is_still(self, beta1: float, beta2: float, eps: float, coupled: float, decoupled: float) -> bool:
        now = self.weights.astype(np.float64)
        mean, square = np.zeros_like(now), np.zeros_like(now)
        for gradient, rate, after in zip(self.gradients, self.rates, self.after, strict=True):
            given = gradient + coupled * now
            mean = beta1 * mean + (1 - beta1) * given
            square = beta2 * square + (1 - beta2) * given**2
            change = rate * (mean / (1 - beta1) / (np.sqrt(square / (1 - beta2)) + eps) + decoupled * now)
            if np.abs(now - change - after).max() > _CLOSE * max(float(np.abs(change).max()), 1e-12):
                return False
            now = after
        return True


def followed(updates: Sequence[UpdateEvent]) -> Iterator[Followed]:
    """What can be followed from the first update on: each group whose elements nothing else has changed between."""
    if not updates or updates[0].update or not updates[0].fresh:
        return
    for group in range(len(updates[0].settings)):
        rows: list[tuple[UpdateEvent, list[Moved]]] = []
        for place, update in enumerate(updates):
            own = [moved for moved in update.moved if moved.group == group]
            if update.update != place or group >= len(update.settings) or not own:
                break
            if rows and [moved.name for moved in own] != [moved.name for moved in rows[0][1]]:
                break
            if _besides_rate(update.settings[group]) != _besides_rate(updates[0].settings[group]):
                # A schedule may change momentum or decay as well.
                break
            if rows and any(tuple(now.before) != tuple(last.after) for now, last in zip(own, rows[-1][1], strict=True)):
                break
            rows.append((update, own))
        found = _followed([update.settings[group] for update, _ in rows], [own for _, own in rows])
        if found is not None:
            yield found


def _besides_rate(settings: Mapping[str, Json]) -> dict[str, Json]:
    return {name: value for name, value in settings.items() if name not in _RATES}


def _followed(settings: Sequence[Mapping[str, Json]], rows: Sequence[Sequence[Moved]]) -> Followed | None:
    rates = [rate for setting in settings if isinstance(rate := setting.get("lr"), int | float)]
    if not rows or len(rates) != len(rows) or any(settings[0].get(name) for name in _UNKNOWN):
        return None
    scale = settings[0].get("loss_scale", 1)
    scale = float(scale) if isinstance(scale, int | float) and scale else 1.0
    sign = -1.0 if settings[0].get("maximize") else 1.0
    gradients = np.array([np.concatenate([moved.gradient for moved in own]) for own in rows]) * sign / scale
    after = np.array([np.concatenate([moved.after for moved in own]) for own in rows])
    weights = np.concatenate([moved.before for moved in rows[0]])
    if not (np.isfinite(gradients).all() and np.isfinite(after).all() and np.isfinite(weights).all()):
        return None
    cuts = [0, *np.cumsum([len(moved.before) for moved in rows[0]]).tolist()]
    return Followed(
        weights,
        gradients,
        after,
        [float(rate) for rate in rates],
        settings[0],
        cuts,
        [moved.dtype for moved in rows[0]],
        [moved.name for moved in rows[0]],
    )
