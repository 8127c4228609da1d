"""Gradients of several batches are weighed by what their losses were averaged over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from trueline.checks.engine.check import check
from trueline.checks.laws.engine import judged, law
from trueline.checks.laws.law import Breach, Law, Lines
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import CriterionEvent, Event, LossEvent, StepEvent
from trueline.model.finding import Finding
from trueline.model.location import Location

_SAME: Final = 1e-3  # between two weights
_TURNS: Final = 2  # updates: an epoch's last batch is smaller than the others
_MIN_SPREAD: Final = 1.1  # of the largest count over the smallest: less changes little


@law
class WeighsByWhatIsAveraged(Law):
    """A mean over targets weighs by their number in the sum of an update."""

    hears = (CriterionEvent, LossEvent, StepEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._criteria: list[CriterionEvent] = []
        self._parts: list[tuple[float, int]] = []
        self._uneven: list[tuple[Location, list[int]]] = []
        self._first: Location | None = None
        self._whole = True

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, CriterionEvent):
            self._criteria.append(event)
        elif isinstance(event, LossEvent):
            self._first = self._first or self.at(event)
            self._add(event)
        elif isinstance(event, StepEvent):
            yield from self._judged(event)
            self._parts, self._first, self._whole = [], None, True

    def _add(self, loss: LossEvent) -> None:
        """One backward pass: how its loss was weighed, and over how many targets it is a mean."""
        criteria, self._criteria = self._criteria, []
        whole = self._whole
        told = criteria[0] if len(criteria) == 1 else None
        target = told.target if told is not None else None
        self._whole = False
        if told is None or target is None or target.valid is None:
            return
        if told.value and told.settings.get("reduction", "mean") == "mean":
            self._parts.append((loss.value / told.value, target.valid))
            self._whole = whole

    def _judged(self, event: StepEvent) -> Iterator[Breach]:
        counts = [count for _, count in self._parts]
        if not self._whole or len(counts) < 2 or not min(counts):
            return
        self.looked += 1
        weights = [weight for weight, _ in self._parts]
        if max(counts) < _MIN_SPREAD * min(counts) or max(weights) - min(weights) > _SAME * abs(weights[0]):
            self._uneven = []
            return
        self._uneven.append((replace(self._first or self.at(event), step=event.step), counts))
        if len(self._uneven) == _TURNS:
            where, first = self._uneven[0]
            params = {"least": min(first), "most": max(first), "count": len(first)}
            # A mean of means is what some want; the gradient of all targets at once is another one.
            yield Breach("tr_03.unevenly_weighed", where, sure=False, evidence=[first, weights], params=params)


@check("tr.03", decides=False)
def from_laws(run: Run) -> Iterator[Finding]:
    """Micro-batches of unequal numbers of valid targets that count alike."""
    yield from judged(run, WeighsByWhatIsAveraged, kept="tr_03.laws_kept", unseen="tr_03.laws_unseen")
