"""What drops values in training goes on doing so after an evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trueline.checks.engine.check import check
from trueline.checks.evidence.looks import EVAL, TRAIN
from trueline.checks.laws.engine import judged, law
from trueline.checks.laws.law import Breach, Law, Lines
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import EndEvent, Event, RateEvent
from trueline.model.finding import Finding
from trueline.model.location import Location


@dataclass(slots=True)
class _Line:
    """The last rate of a line's calls in training; ``alike`` while it has never changed."""

    rate: float
    alike: bool = True


@law
class DropsAgainAfterEvaluation(Law):
    """A line whose calls dropped values in training mode does not stop at an evaluation."""

    hears = (RateEvent, EndEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._lines_seen: dict[Location | None, _Line] = {}
        self._evaluations = 0
        self._was_evaluated = False

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, EndEvent):
            if event.phase == EVAL and not self._was_evaluated:
                self._was_evaluated = True
                self._evaluations += 1
            elif event.phase == TRAIN:
                self._was_evaluated = False
        elif isinstance(event, RateEvent) and event.phase == TRAIN and event.training:
            yield from self._of_training(event)

    def _of_training(self, event: RateEvent) -> Iterator[Breach]:
        before = self._lines_seen.get(event.line)
        if before is None:
            self.looked += 1
            self._lines_seen[event.line] = _Line(event.rate)
            return
        if before.rate and not event.rate and self._was_evaluated:
            # A rate that was lowered before, or that survived an evaluation, may follow a plan.
            sure = before.alike and self._evaluations == 1
            said = {"before": before.rate, "step": event.step}
            yield Breach("tr_09.stopped", self.at(event), event.rate, before.rate, sure, [event.to_json()], said)
        before.rate, before.alike = event.rate, before.alike and event.rate == before.rate


@check("tr.09", decides=False)
def from_laws(run: Run) -> Iterator[Finding]:
    """Functions whose random rate is lost in an evaluation."""
    yield from judged(run, DropsAgainAfterEvaluation, kept="tr_09.laws_kept", unseen="tr_09.laws_unseen")
