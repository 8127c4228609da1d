"""Watchpoints at work: what a training shows them, step by step, and what they have to say to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from trueline.kernel import UnsupportedDtype, summarise
from trueline.kernel.array import Array
from trueline.model.summary import Summary
from trueline.watch.points.averages import Averages
from trueline.watch.points.conditions import (
    Broken,
    Limits,
    activation_of,
    has_zeros,
    is_beyond,
    is_initialised_oddly,
    is_non_finite,
    is_outside,
    is_saturated,
)
from trueline.watch.points.hit import PointHit
from trueline.watch.points.kept import CHANGES, KeptWeights
from trueline.watch.points.point import Need, Point, needs

Named: TypeAlias = Iterable[tuple[str, Array]]

_ON_SUMMARY: Final[dict[str, Callable[[Summary, Limits], Broken | None]]] = {
    **dict.fromkeys(("WO", "GE", "TO"), lambda summary, _: is_non_finite(summary)),
    **dict.fromkeys(("WL", "GL", "TL"), partial(is_beyond, larger=True)),
    **dict.fromkeys(("WS", "GV", "TS"), partial(is_beyond, larger=False)),
    "TZ": has_zeros,
}
# Beyond so many places a network is wrong everywhere, and nobody reads on.
MOST_PLACES: Final = 10_000
_PLACE_BYTES: Final = 1024


@dataclass(slots=True)
class Told:
    """A watchpoint at one place: the hit that was told, how many steps met it, and the last of them."""

    hit: PointHit
    count: int
    last: int


@dataclass(slots=True)
class _Row:
    """How many steps in a row have met a watchpoint at one place."""

    length: int
    step: int


class Points:
    """Takes what a training shows, in the order of its execution, and gives the hits.

    A watchpoint at one place is told once; later hits there are counted in ``told``. Integers and truth values are not
    looked at. What is kept: a copy of the weights where a watchpoint asks for their change, the averages of norms, and
    a small record for each place with a hit, of which there are at most ``MOST_PLACES``.
    """

    def __init__(self, points: Sequence[Point]) -> None:
        self.points = tuple(points)
        self.needs = needs(points)
        self.untold = 0
        self._told: dict[tuple[int, str], Told] = {}
        self._rows: dict[tuple[int, str], _Row] = {}
        self._averages = Averages()
        self._by_need = {
            need: [(number, point) for number, point in enumerate(points) if need in point.spec.needs] for need in Need
        }
        self._changes = [(number, point) for number, point in enumerate(points) if point.id in CHANGES]
        self._kept = KeptWeights() if self._changes else None

    @property
    def told(self) -> list[Told]:
        """All places with a hit, in the order they were told."""
        return list(self._told.values())

    def bytes(self) -> int:
        """How much memory is held between steps."""
        held = self._kept.bytes() if self._kept is not None else 0
        return held + self._averages.bytes() + _PLACE_BYTES * (len(self._told) + len(self._rows))

    def initial(self, named: Named) -> list[PointHit]:
        """The weights that a training begins with; only those that are trained."""
        hits: list[PointHit] = []
        for name, array in named if Need.INITIAL in self.needs else ():
            summary = _summary(array)
            if summary is None:
                continue
            for number, point in self._by_need[Need.INITIAL]:
                if point.id == "WI":
                    hits += self._judge(number, 0, name, is_initialised_oddly(summary, array.ndim, point.limits))
                elif point.id == "WO":
                    hits += self._judge(number, 0, name, is_non_finite(summary))
            if self._kept is not None:
                self._kept.keep(name, array, summary)
        return hits

    def weights(self, step: int, named: Named) -> list[PointHit]:
        """The weights after a step's update; only those that are trained."""
        hits: list[PointHit] = []
        for name, array in named if Need.WEIGHTS in self.needs else ():
            summary = _summary(array)
            if summary is None:
                continue
            change = self._kept.change(name, array, summary) if self._kept is not None else None
            for number, point in self._by_need[Need.WEIGHTS]:
                if point.id in _ON_SUMMARY:
                    hits += self._judge(number, step, name, _ON_SUMMARY[point.id](summary, point.limits))
                elif change is not None:
                    hits += self._judge(number, step, name, change.broken(point))
            if self._kept is not None:
                self._kept.keep(name, array, summary)
        return hits

    def gradient(self, step: int, name: str, array: Array, summary: Summary | None = None) -> list[PointHit]:
        """One parameter's gradient; its Summary where that is known already."""
        return self._on_summary(Need.GRADIENTS, step, name, "", array, summary)

    def output(self, step: int, module: str, kind: str, array: Array, summary: Summary | None = None) -> list[PointHit]:
        """What a module of some kind gave; its Summary where that is known already."""
        return self._on_summary(Need.OUTPUTS, step, module, kind, array, summary)

    def before_activation(self, step: int, module: str, kind: str, array: Array) -> list[PointHit]:
        """What an activation took; those that do not saturate are passed by."""
        activation = activation_of(kind)
        if activation is None or not _is_real(array):
            return []
        hits: list[PointHit] = []
        for number, point in self._by_need[Need.ACTIVATIONS]:
            hits += self._judge(number, step, module, is_saturated(array, activation, point.limits), kind)
        return hits

    def norm(self, step: int, name: str, value: float) -> list[PointHit]:
        """A norm, or another number that should move slowly."""
        hits: list[PointHit] = []
        for number, point in self._by_need[Need.NORMS]:
            hits += self._judge(number, step, name, self._averages.broken(name, value, point.limits))
        if self._by_need[Need.NORMS]:
            self._averages.add(name, value)
        return hits

    def _on_summary(
        self, need: Need, step: int, where: str, kind: str, array: Array, summary: Summary | None
    ) -> list[PointHit]:
        if need not in self.needs or not _is_float(array):
            return []
        hits: list[PointHit] = []
        for number, point in self._by_need[need]:
            if point.id == "TR":
                broken = is_outside(array, point.limits) if _is_real(array) else None
            else:
                summary = _summary(array) if summary is None else summary
                if summary is None:
                    continue
                broken = _ON_SUMMARY[point.id](summary, point.limits)
            hits += self._judge(number, step, where, broken, kind)
        return hits

    def _judge(self, number: int, step: int, where: str, broken: Broken | None, kind: str = "") -> list[PointHit]:
        """The hit, if there is one that was not told before."""
        point, place = self.points[number], (number, where)
        if broken is None:
            self._rows.pop(place, None)
            return []
        measured, limit = broken
        least = point.limits.get("steps")
        if least is not None:
            row = self._rows.setdefault(place, _Row(1, step))
            if row.step != step:
                row.length, row.step = row.length + 1, step
            if row.length < least:
                return []
            measured, limit = {**measured, "steps": row.length}, {**limit, "steps": least}
        before = self._told.get(place)
        if before is not None:
            before.count += before.last != step
            before.last = step
            return []
        if len(self._told) >= MOST_PLACES:
            self.untold += 1
            return []
        hit = PointHit(point.id, step, point.spec.name, where, measured, limit, kind)
        self._told[place] = Told(hit, 1, step)
        return [hit]


def _is_float(array: Array) -> bool:
    # bfloat16 is no kind of NumPy's own.
    return array.dtype.kind in "fc" or array.dtype.name == "bfloat16"


def _is_real(array: Array) -> bool:
    return _is_float(array) and array.dtype.kind != "c"


def _summary(array: Array) -> Summary | None:
    """An array's numbers; None for what has no floats in it, or ones that cannot be read."""
    if not _is_float(array):
        return None
    try:
        return summarise(np.asarray(array))
    except UnsupportedDtype:
        return None
