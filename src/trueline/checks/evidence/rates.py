"""The learning rate against what it moves: how far each update carries the weights, relative to them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from trueline.apitable.functions import lower_of
from trueline.apitable.traits import Trait
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.numbers import decode
from trueline.model.run import EventName

# Their steps do not depend on how large the gradients are: about the rate for every weight.
_BY_SIGN: Final = tuple(lower_of(Trait.NORMALISED_STEP))


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
        return [one.rate for one in self.updates]

    @property
    def moved(self) -> float | None:
        """The length of the whole way, relative to the weights' norm."""
        ratios = [one.ratio for one in self.updates if one.ratio is not None]
        return sum(ratios) if ratios and len(ratios) == len(self.updates) else None


def optimized(run: Run) -> Optimized | None:
    """The optimizer's steps, where there is one optimizer that has made any."""
    found = in_turn(run)
    return found[0] if len(found) == 1 else None


def in_turn(run: Run) -> list[Optimized]:
    """The steps of each optimizer, where one was done before the next began; none where they work at the same time."""
    if not run.ranks:
        return []
    folder = run.rank(run.ranks[0])
    turns: dict[int, list[dict[str, Any]]] = {}
    before: int | None = None
    for event in folder.events(EventName.STEP, phase="train"):
        if event.get("skipped"):
            continue
        number = int(event.get("optimizer") or 0)
        if number != before and number in turns:
            return []
        before = number
        turns.setdefault(number, []).append(event)
    found = [_of_events(run, folder, number, events, alone=len(turns) == 1) for number, events in turns.items()]
    return [one for one in found if one is not None]


def _of_events(
    run: Run, folder: RankFolder, number: int, events: Sequence[dict[str, Any]], *, alone: bool
) -> Optimized | None:
    kind = str(events[0].get("kind"))
    norm, count = _weights(folder, None if alone else number)
    momentum = _momentum(run, number)
    empty = Optimized(kind, [])
    updates = []
    for event in events:
        rates = [float(one) for one in event.get("lr") or () if isinstance(one, int | float)]
        if not rates:
            return None
        rate = max(rates)
        gradient = event.get("grad_norm")
        ratio = None
        if norm > 0 and empty.adaptive:
            ratio = rate * math.sqrt(count) / norm
        elif norm > 0 and gradient is not None:
            ratio = rate * decode(gradient) / (1 - momentum) / norm
        updates.append(Update(int(event["step"]), rate, ratio))
    return Optimized(kind, updates, number)


def _weights(folder: RankFolder, optimizer: int | None) -> tuple[float, int]:
    """The norm of all weights that an optimizer (or any) holds, at the beginning, and how many they are."""
    held = [
        one.initial
        for one in folder.params
        if not one.buffer and one.optimizer is not None and optimizer in (None, one.optimizer)
    ]
    known = [one for one in held if one is not None]
    return math.sqrt(sum(one.l2**2 for one in known)), sum(one.count for one in known)


def _momentum(run: Run, number: int) -> float:
    optimizers: Any = run.info.hyper.get("optimizers")
    try:
        found = optimizers[number]["groups"][0].get("momentum", 0)
    except (KeyError, IndexError, TypeError, AttributeError):
        return 0.0
    return min(float(found), 0.99) if isinstance(found, int | float) else 0.0
