"""A schedule that is stepped sets the rate of an optimizer that updates."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check
from trueline.checks.laws.engine import judged, law
from trueline.checks.laws.law import Breach, Law, Lines
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import Event, SchedulerEvent, StepEvent
from trueline.model.finding import Finding

# A schedule may be stepped once more after its optimizer's last update.
_TURNS = 2


@law
class SteersTheOptimizerInUse(Law):
    """Between two steps of a schedule its optimizer has updated, if any optimizer has."""

    hears = (SchedulerEvent, StepEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._updated: set[int] = set()
        self._idle: dict[int, list[SchedulerEvent]] = {}

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, StepEvent):
            self._updated.add(event.optimizer)
            return
        assert isinstance(event, SchedulerEvent)
        if event.optimizer is None or not self._updated:
            return
        self.looked += 1
        updated, self._updated = self._updated, set()
        if event.optimizer in updated:
            self._idle.pop(event.optimizer, None)
            return
        idle = self._idle.setdefault(event.optimizer, [])
        idle.append(event)
        if len(idle) == _TURNS:
            kinds = {"kind": event.kind, "own": event.optimizer, "used": sorted(updated)}
            yield Breach("tr_04.other_optimizer", self.at(idle[0]), params={"kind": event.kind}, evidence=[kinds])


@check("tr.04", decides=False)
def from_laws(run: Run) -> Iterator[Finding]:
    """A schedule that goes on steering an optimizer that no longer updates."""
    yield from judged(run, SteersTheOptimizerInUse, kept="tr_04.laws_kept", unseen="tr_04.laws_unseen")
