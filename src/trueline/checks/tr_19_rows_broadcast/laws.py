"""Rows of a batch correspond: no operator pairs each with all others on the way to one number."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import Params, check
from trueline.checks.laws.engine import judged, law
from trueline.checks.laws.law import Breach, Law, Lines
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import BroadcastEvent, CriterionEvent, EndEvent, Event
from trueline.model.finding import Finding
from trueline.model.location import Location


@law
class RowsCorrespond(Law):
    """What is reduced to one number has no value for each pair of rows, unless pairs were asked for."""

    hears = (BroadcastEvent, CriterionEvent, EndEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._told_by_loss: set[Location | None] = set()

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, EndEvent):
            self.looked += event.step == 0
        elif isinstance(event, CriterionEvent):
            shapes = event.shapes
            if shapes is not None and list(shapes.prediction) != list(shapes.target):
                # Of what a loss function is given, the item of losses speaks.
                self._told_by_loss.add(event.line)
        elif isinstance(event, BroadcastEvent) and event.line not in self._told_by_loss:
            sure = not event.explicit and not event.partly
            narrow, wide = event.operands
            said: Params = {
                "function": event.function,
                "narrow": _shown(narrow),
                "wide": _shown(wide),
                "result": _shown(event.result),
                "rows": event.result[0],
            }
            message = "tr_19.pairs" if sure else "tr_19.may_be_pairs"
            evidence = [event.to_json()]
            yield Breach(message, self.at(event), measured=len(event.result), sure=sure, params=said, evidence=evidence)


def _shown(shape: object) -> str:
    return str(list(shape)) if isinstance(shape, list | tuple) else str(shape)


@check("tr.19", "rows are broadcast where they should correspond", decides=False)
def from_laws(run: Run) -> Iterator[Finding]:
    """Operators that pair each row with all others."""
    yield from judged(run, RowsCorrespond, kept="tr_19.rows_correspond", unseen="tr_19.unseen")
