"""The learning rate against what it moves: how far each update carries the weights, relative to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trueline.apitable.functions import lower_of
from trueline.apitable.traits import Trait
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import StepEvent

# Their steps do not depend on how large the gradients are: about the rate for every weight.
_BY_SIGN: Final = tuple(lower_of(Trait.NORMALISED_STEP))
MAX_MOMENTUM: Final = 0.99  # beyond it the geometric series of updates says nothing about a few steps


@dataclass(frozen=True, slots=True)
class Update:
    """One optimizer step: the rate, and how far it moved the weights relative to their norm, None where unknown."""

    step: int
    rate: float
    ratio: float | None


@dataclass(frozen=True, slots=True)
class Optimized:
    """All steps of one optimizer, the only one of a run or one of several that took turns."""

    kind: str
    updates: Sequence[Update]
    number: int = 0

    @property
    def adaptive(self) -> bool:
        """Whether it divides gradients by their own size."""
        return self.kind.lower().startswith(_BY_SIGN) or "adam" in self.kind.lower()

    @property
    def rates(self) -> list[float]:
        """The rate at each step."""
        return [update.rate for update in self.updates]

    @property
    def moved(self) -> float | None:
        """The length of the whole way, relative to the weights' norm."""
        ratios = [update.ratio for update in self.updates if update.ratio is not None]
        return sum(ratios) if ratios and len(ratios) == len(self.updates) else None


def optimized(run: Run) -> Optimized | None:
    """The optimizer's steps, where there is one optimizer that has made any."""
    optimizers = in_turn(run)
    return optimizers[0] if len(optimizers) == 1 else None


def in_turn(run: Run) -> list[Optimized]:
    """The steps of each optimizer, where one was done before the next began; none where they work at the same time."""
    if not run.ranks:
        return []
    folder = run.rank(run.ranks[0])
    turns: dict[int, list[StepEvent]] = {}
    before: int | None = None
    for event in folder.events(StepEvent, phase="train"):
        if event.skipped:
            continue
        if event.optimizer != before and event.optimizer in turns:
            return []
        before = event.optimizer
        turns.setdefault(event.optimizer, []).append(event)
    optimizers = [_of_events(run, folder, number, events, alone=len(turns) == 1) for number, events in turns.items()]
    return [optimizer for optimizer in optimizers if optimizer is not None]


def _of_events(
    run: Run, folder: RankFolder, number: int, events: Sequence[StepEvent], *, alone: bool
) -> Optimized | None:
    kind = str(events[0].kind)
    norm, count = _weights(folder, None if alone else number)
    momentum = _momentum(run, number)
    empty = Optimized(kind, [])
    updates = []
    for event in events:
        rates = [float(rate) for rate in event.lr if isinstance(rate, int | float)]
        if not rates:
            return None
        rate = max(rates)
        ratio = None
        if norm > 0 and empty.adaptive:
            ratio = rate * math.sqrt(count) / norm
        elif norm > 0 and event.grad_norm is not None:
            ratio = rate * event.grad_norm / (1 - momentum) / norm
        updates.append(Update(event.step, rate, ratio))
    return Optimized(kind, updates, number)


def _weights(folder: RankFolder, optimizer: int | None) -> tuple[float, int]:
    """The norm of all weights that an optimizer (or any) holds, at the beginning, and how many they are."""
    held = [
        param.initial
        for param in folder.params
        if not param.buffer and param.optimizer is not None and optimizer in (None, param.optimizer)
    ]
    known = [summary for summary in held if summary is not None]
    return math.sqrt(sum(summary.l2**2 for summary in known)), sum(summary.count for summary in known)


def _momentum(run: Run, number: int) -> float:
    optimizers = run.info.optimizers
    groups = optimizers[number].groups if 0 <= number < len(optimizers) else ()
    momentum = groups[0].get("momentum") if groups else None
    return min(float(momentum), MAX_MOMENTUM) if isinstance(momentum, int | float) else 0.0
