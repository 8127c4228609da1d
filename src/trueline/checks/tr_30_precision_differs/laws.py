"""Layers of a network that is called inside autocast compute inside it too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trueline.checks.engine.check import check
from trueline.checks.evidence.looks import TRAIN
from trueline.checks.laws.engine import judged, law
from trueline.checks.laws.law import Breach, Law, Lines
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import EndEvent, Event, UncastEvent
from trueline.model.finding import Finding


@law
class AutocastReachesAllLayers(Law):
    """In training no layer of a network inside autocast computes where nobody has entered or left it."""

    hears = (UncastEvent, EndEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._told = False

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if event.phase != TRAIN:
            return
        if isinstance(event, UncastEvent):
            if self._told:
                return
            self._told = True
            place = replace(self.at(event), module=event.module or None)
            said = {"module": event.module, "dtype": event.dtype, "autocast": event.autocast}
            yield Breach("tr_30.uncast", place, event.dtype, event.autocast, params=said, evidence=[event.to_json()])
        else:
            self.looked += 1


@check("tr.30", "layers of one step compute in different precision", decides=False)
def from_laws(run: Run) -> Iterator[Finding]:
    """Layers that autocast does not reach."""
    yield from judged(run, AutocastReachesAllLayers, kept="tr_30.alike", unseen="tr_30.unseen")
