"""A weight under spectral norm has the norm 1 where it is first used."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.checks.engine.check import check
from trueline.checks.evidence.looks import built_where, modules_of
from trueline.checks.laws.engine import judged, law
from trueline.checks.laws.law import Breach, Law, Lines
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import Event, NormaliserEvent
from trueline.model.finding import Finding

MAX_NORM: Final = 1.25  # fifteen power iterations come nearer than this but for the flattest of spectra


@law
class NormalisedFromTheFirstUse(Law):
    """A network that is first used in evaluation mode has the norms that were promised."""

    hears = (NormaliserEvent,)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._told = False

    def hear(self, event: Event, /) -> Iterator[Breach]:
        assert isinstance(event, NormaliserEvent)
        self.looked += 1
        if event.adapts or event.norm <= MAX_NORM or self._told:
            return
        self._told = True
        place = built_where(modules_of(self.rank).get(event.module), step=event.step, path=event.module)
        said = {"module": event.module, "function": event.function, "norm": round(event.norm, 2)}
        evidence = [event.to_json()]
        yield Breach("tr_31.too_large", place, event.norm, MAX_NORM, params=said, evidence=evidence)


@check("tr.31", "a normaliser is not what it promises when first used", decides=False)
def from_laws(run: Run) -> Iterator[Finding]:
    """Weights under spectral norm that are used before their estimate fits."""
    yield from judged(run, NormalisedFromTheFirstUse, kept="tr_31.as_promised", unseen="tr_31.none_normalised")
