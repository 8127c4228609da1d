"""What gets gradients is held by the optimizer that updates, or moves without it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import Params, check
from trueline.checks.evidence.looks import few
from trueline.checks.laws.engine import judged, law
from trueline.checks.laws.law import Breach, Law, Lines
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import Event, StepEvent, UnheldEvent
from trueline.model.finding import Finding
from trueline.model.json_value import Json

# What is seen once may be an accident of the step.
_TURNS = 2


@law
class HoldsWhatItTrains(Law):
    """Where an optimizer updates, no parameter of a called network has a gradient, no holder, and stays as it is.

    What was left out from the beginning may be meant to stay: it counts where the optimizer holds parameters of no
    called network in its place, or held all that had a gradient before.
    """

    hears = (StepEvent, UnheldEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._seen: dict[tuple[int, str, int], list[UnheldEvent]] = {}
        self._updates: dict[int, int] = {}
        self._later: set[tuple[int, str, int]] = set()

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, StepEvent):
            self.looked += not event.skipped
            self._updates[event.optimizer] = self._updates.get(event.optimizer, 0) + 1
            return
        assert isinstance(event, UnheldEvent)
        key = (event.optimizer, event.network, event.count)
        seen = self._seen.setdefault(key, [])
        if not seen and self._updates.get(event.optimizer, 0) > 1:
            self._later.add(key)
        seen.append(event)
        if len(seen) == _TURNS:
            yield from self._breach(seen[0], later=key in self._later)

    def _breach(self, event: UnheldEvent, *, later: bool) -> Iterator[Breach]:
        params: Params = {"step": event.step, "names": few(event.names), "count": event.count, "held": event.held}
        evidence: list[Json] = [
            {"held": event.held, "idle": event.idle, "outside": event.outside, "reached": event.reached}
        ]
        where = self.at(event)
        if event.count == event.reached:
            if event.idle == event.held or event.alike:
                yield Breach("tr_06.none_held", where, measured=event.count, limit=0, evidence=evidence, params=params)
        elif event.outside:
            params["outside"] = event.outside
            yield Breach("tr_06.replaced", where, measured=event.count, limit=0, evidence=evidence, params=params)
        elif later:
            yield Breach("tr_06.joined_later", where, measured=event.count, limit=0, evidence=evidence, params=params)


@check("tr.06", decides=False)
def from_laws(run: Run) -> Iterator[Finding]:
    """Gradients that no optimizer applies, at every step."""
    yield from judged(run, HoldsWhatItTrains, kept="tr_06.laws_kept", unseen="tr_06.laws_unseen")
