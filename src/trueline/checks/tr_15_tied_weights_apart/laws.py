"""Weights that were one tensor stay one, unless they are tied anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.checks.engine.check import check
from trueline.checks.evidence.looks import few
from trueline.checks.laws.engine import judged, law
from trueline.checks.laws.law import Breach, Law, Lines
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import Event, StepEvent, UntiedEvent
from trueline.model.finding import Finding

# What is seen once may be an accident of the step.
_TURNS: Final = 2


@law
class KeepsItsTies(Law):
    """The names that a network has for one tensor name one tensor at every update."""

    hears = (StepEvent, UntiedEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._apart: dict[tuple[str, ...], list[UntiedEvent]] = {}

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, StepEvent):
            self.looked += not event.skipped
            return
        assert isinstance(event, UntiedEvent)
        apart = self._apart.setdefault(tuple(event.names), [])
        apart.append(event)
        if len(apart) == _TURNS:
            first = apart[0]
            yield Breach("tr_15.untied", self.at(first), params={"names": few(first.names), "step": first.step})


@check("tr.15", decides=False)
def from_laws(run: Run) -> Iterator[Finding]:
    """Ties that are gone at an update."""
    yield from judged(run, KeepsItsTies, kept="tr_15.laws_kept", unseen="tr_15.laws_unseen")
