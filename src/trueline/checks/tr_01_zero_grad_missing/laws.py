"""The gradients of every batch go into an update before they are cleared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.checks.engine.check import check
from trueline.checks.laws.engine import judged, law
from trueline.checks.laws.law import Breach, Law, Lines
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import BackwardEvent, Event, StepEvent, ZeroGradEvent
from trueline.model.finding import Finding
from trueline.model.location import Location

# Batches that are left out now and then, as those with a NaN, are left out on purpose.
_TURNS: Final = 3
_MIXED_TURNS: Final = 2


@law
class UsesEveryBatch(Law):
    """Where every update waits for the same number of batches, no gradients of them are cleared before it.

    Several passes over one batch, as sharpness-aware methods and line searches make them, are no batches.
    """

    hears = (BackwardEvent, StepEvent, ZeroGradEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._optimizers: set[int] = set()
        self._passed: set[int] = set()
        self._lost: dict[int, Location] = {}
        self._row: list[tuple[int, Location]] = []

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, BackwardEvent):
            self._passed.add(event.step)
        elif isinstance(event, ZeroGradEvent):
            for step in self._passed:
                self._lost.setdefault(step, self.at(event))
            self._passed = set()
        elif isinstance(event, StepEvent):
            self._optimizers.add(event.optimizer)
            lost = {step: place for step, place in self._lost.items() if step != event.step}
            used, self._passed, self._lost = bool(self._passed), set(), {}
            yield from self._judged(lost, used=used)

    def _judged(self, lost: dict[int, Location], *, used: bool) -> Iterator[Breach]:
        self.looked += 1
        if not lost or not used or len(self._optimizers) > 1 or (self._row and self._row[-1][0] != len(lost)):
            self._row = []
            return
        self._row.append((len(lost), next(iter(lost.values()))))
        if len(self._row) == _TURNS:
            count, place = self._row[0]
            yield Breach("tr_01.lost", place, measured=count, limit=0, params={"lost": count, "count": count + 1})


@law
class UpdatesByItsOwn(Law):
    """What one optimizer has updated by does not go into another's next update.

    An optimizer may add gradients up over several updates of another on purpose.
    """

    hears = (StepEvent,)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._mixed: dict[int, list[Location]] = {}

    def hear(self, event: Event, /) -> Iterator[Breach]:
        assert isinstance(event, StepEvent)
        if event.mixed is None:
            return
        self.looked += 1
        mixed = self._mixed.setdefault(event.optimizer, [])
        if not event.mixed:
            mixed.clear()
            return
        mixed.append(self.at(event))
        if len(mixed) == _MIXED_TURNS:
            yield Breach("tr_01.mixed", mixed[0], sure=False, params={"kind": event.kind})


@check("tr.01", decides=False)
def from_laws(run: Run) -> Iterator[Finding]:
    """Gradients that are cleared before any update has used them."""
    yield from judged(run, UsesEveryBatch, UpdatesByItsOwn, kept="tr_01.laws_kept", unseen="tr_01.laws_unseen")
