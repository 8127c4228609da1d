"""The weights of the step before, kept for those watchpoints that ask how they have changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.kernel import distance
from trueline.kernel.array import Array
from trueline.model.distance import Distance
from trueline.model.summary import Summary
from trueline.watch.points.conditions import Broken, change_ratio, is_changed_beyond, is_unchanged
from trueline.watch.points.point import Point

CHANGES: Final = frozenset(("WNC", "WCL", "WCS"))
_USUAL: Final = (1e-5, 1e-8)
_ENTRY_BYTES: Final = 512


@dataclass(slots=True)
class _Kept:
    """One weight as it was; ``age`` counts its changes since it was nothing but zeros, if it ever was."""

    array: Array
    summary: Summary
    age: int | None


class Change:
    """One weight before and after an update, measured once for each tolerance that is asked for."""

    def __init__(self, now: Array, before: Array, abs_mean_before: float, age: int | None) -> None:
        self._now, self._before = now, before
        self._abs_mean_before, self._age = abs_mean_before, age
        self._measured: dict[tuple[float, float], Distance] = {}

    def broken(self, point: Point) -> Broken | None:
        """What the watchpoint has to say to it."""
        if point.id == "WNC":
            return is_unchanged(self._within(point.limits["rtol"], point.limits["atol"]), point.limits)
        larger = point.id == "WCL"
        # From zero every change is a large one: such a weight is judged when it has grown.
        if larger and self._age is not None and self._age < point.limits["settle"]:
            return None
        # How far elements have moved is the same for every tolerance.
        change = next(iter(self._measured.values()), None) or self._within(*_USUAL)
        return is_changed_beyond(change_ratio(change, self._abs_mean_before), point.limits, larger=larger)

    def _within(self, rtol: float, atol: float) -> Distance:
        found = self._measured.get((rtol, atol))
        if found is None:
            found = self._measured[rtol, atol] = distance(self._now, self._before, rtol, atol)
        return found


class KeptWeights:
    """A copy of every weight, and no more than one."""

    def __init__(self) -> None:
        self._kept: dict[str, _Kept] = {}

    def bytes(self) -> int:
        """How much memory the copies take."""
        return sum(kept.array.nbytes + _ENTRY_BYTES for kept in self._kept.values())

    def change(self, name: str, array: Array, summary: Summary) -> Change | None:
        """From what was kept to what is now; None for a weight that is new or has another shape, or has no elements."""
        before = self._kept.get(name)
        if before is None or before.array.shape != array.shape or not summary.count:
            return None
        return Change(np.asarray(array), before.array, before.summary.abs_mean, before.age)

    def keep(self, name: str, array: Array, summary: Summary) -> None:
        """Keep a weight for the next step, in the memory of the one that it replaces."""
        before = self._kept.get(name)
        age = before.age + 1 if before is not None and before.age is not None else None
        age = 0 if summary.zeros == summary.count else age
        if before is None or before.array.shape != array.shape or before.array.dtype != array.dtype:
            self._kept[name] = _Kept(np.array(array, order="C"), summary, age)
            return
        # The same content needs no copy.
        if before.summary.fingerprint != summary.fingerprint:
            np.copyto(before.array, array)
        before.summary, before.age = summary, age
