"""What is frozen stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.checks.engine.check import check
from trueline.checks.evidence.looks import few
from trueline.checks.laws.engine import judged, law
from trueline.checks.laws.law import Breach, Law, Lines
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import Event, FrozenEvent, StepEvent
from trueline.model.finding import Finding

# What is seen once may be an accident of the step.
_TURNS: Final = 2


@law
class KeepsWhatIsFrozen(Law):
    """A parameter that wants no gradient is not moved by an optimizer."""

    hears = (FrozenEvent, StepEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._moved: dict[int, list[FrozenEvent]] = {}

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, StepEvent):
            self.looked += not event.skipped
            return
        assert isinstance(event, FrozenEvent)
        moved = self._moved.setdefault(event.optimizer, [])
        moved.append(event)
        if len(moved) == _TURNS:
            first = moved[0]
            params = {"names": few(first.names)}
            yield Breach("cg_02.moves", self.at(first), measured=first.count, limit=0, params=params)


@check("cg.02", decides=False)
def from_laws(run: Run) -> Iterator[Finding]:
    """Frozen parameters that an update moves all the same."""
    yield from judged(run, KeepsWhatIsFrozen, kept="cg_02.laws_kept", unseen="cg_02.laws_unseen")
