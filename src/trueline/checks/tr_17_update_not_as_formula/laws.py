"""Every update is the optimizer's own, of gradients of its own, and lasts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from trueline.checks.engine.check import check
from trueline.checks.evidence.looks import few
from trueline.checks.laws.engine import judged, law
from trueline.checks.laws.law import Breach, Law, Lines
from trueline.checks.tr_17_update_not_as_formula.formula import followed
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import BackwardEvent, Event, InitialisedEvent, LossEvent, StepEvent, UpdateEvent
from trueline.model.finding import Finding
from trueline.model.location import Location

# What is seen once may be an accident of the step.
_TURNS: Final = 2
_BUILT_ANEW: Final = 3  # optimizers of one update each
_MOST: Final = 0.9  # of an optimizer's parameters: all but a few
_MIN_ELEMENTS: Final = 4  # fewer are the same by chance


@dataclass(slots=True)
class _Updates:
    """An optimizer's first updates, and where each was called."""

    events: list[UpdateEvent] = field(default_factory=list)
    kind: str = ""
    places: list[Location] = field(default_factory=list)


@law
class FollowsItsFormula(Law):
    """The first updates of a known optimizer are what its formula gives for its gradients, rates and settings."""

    hears = (StepEvent, UpdateEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._updates: dict[int, _Updates] = {}
        self._places: dict[int, tuple[str, Location]] = {}

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, StepEvent):
            self._places[event.optimizer] = event.kind or "", self.at(event)
        elif isinstance(event, UpdateEvent):
            own = self._updates.setdefault(event.optimizer, _Updates())
            own.kind, place = self._places.get(event.optimizer, ("", self.at(event)))
            own.events.append(event)
            own.places.append(place)
        yield from ()

    def ended(self) -> Iterator[Breach]:
        for own in self._updates.values():
            for part in followed(own.events):
                self.looked += len(part.rates)
                params = {"kind": own.kind, "names": few(part.names)}
                if part.stands_still():
                    yield Breach("tr_17.still_counter", own.places[1], params=params)
                    continue
                update = part.deviates_at(own.kind)
                if update is not None:
                    # Where already the first is another, what was seen may not be what was applied.
                    yield Breach("tr_17.other_update", own.places[update], sure=update > 0, params=params)


@law
class UsesGradientsOnce(Law):
    """Between two updates of an optimizer there is a backward pass, or other gradients."""

    hears = (BackwardEvent, LossEvent, StepEvent, UpdateEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._passes = 0
        self._last: dict[int, tuple[int, float]] = {}
        self._again: dict[int, list[Location]] = {}
        self._losses: list[float] = []
        self._seen: dict[int, tuple[UpdateEvent, list[float]]] = {}
        self._stale: dict[int, list[Location]] = {}
        self._places: dict[int, Location] = {}

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, BackwardEvent):
            self._passes += 1
        elif isinstance(event, LossEvent):
            self._losses.append(event.value)
        elif isinstance(event, StepEvent):
            self._places[event.optimizer] = self.at(event)
            yield from self._applied(event)
        elif isinstance(event, UpdateEvent):
            yield from self._compared(event)

    def _applied(self, event: StepEvent) -> Iterator[Breach]:
        if event.skipped or not event.grad_norm or not self._passes:
            return
        self.looked += 1
        last = self._last.get(event.optimizer)
        self._last[event.optimizer] = self._passes, event.grad_norm
        if last == (self._passes, event.grad_norm):
            places = self._again.setdefault(event.optimizer, [])
            places.append(self.at(event))
            if len(places) == _TURNS:
                yield Breach("tr_17.twice", places[0], params={"kind": event.kind or ""})

    def _compared(self, event: UpdateEvent) -> Iterator[Breach]:
        """The same gradients again, though the loss is another."""
        losses, self._losses = self._losses, []
        last = self._seen.get(event.optimizer)
        self._seen[event.optimizer] = event, losses
        if last is None or not losses or losses == last[1] or not last[1] or self._is_told(event.optimizer):
            return
        now = [number for moved in event.moved for number in moved.gradient]
        before = [number for moved in last[0].moved for number in moved.gradient]
        # Gradients of one size, as signs have it, say nothing.
        if now != before or len({abs(number) for number in now}) < _MIN_ELEMENTS:
            self._stale.pop(event.optimizer, None)
            return
        places = self._stale.setdefault(event.optimizer, [])
        places.append(replace(self._places.get(event.optimizer, Location()), step=event.step))
        if len(places) == _TURNS:
            yield Breach("tr_17.stale", places[0])

    def _is_told(self, optimizer: int) -> bool:
        return bool(self._again.get(optimizer))


@law
class OutlivesItsUpdate(Law):
    """An optimizer that remembers something lives longer than one update."""

    hears = (UpdateEvent,)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._row: list[UpdateEvent] = []

    def hear(self, event: Event, /) -> Iterator[Breach]:
        assert isinstance(event, UpdateEvent)
        self.looked += 1
        if event.update or not _remembers(event) or (self._row and _names(self._row[-1]) != _names(event)):
            self._row = []
        if event.update or not _remembers(event):
            return
        self._row.append(event)
        if len(self._row) == _BUILT_ANEW:
            yield Breach("tr_17.built_anew", self.at(self._row[1]), params={"count": _BUILT_ANEW})


def _names(event: UpdateEvent) -> list[str]:
    return [moved.name for moved in event.moved]


def _remembers(event: UpdateEvent) -> bool:
    """Whether an optimizer of these settings keeps anything from one update to the next."""
    return any(
        {"betas", "beta1", "rho", "alpha", "decay"} & set(group) or group.get("momentum") for group in event.settings
    )


@law
class KeepsWhatItLearnt(Law):
    """Parameters that an optimizer has updated are not drawn anew while it goes on with its state."""

    hears = (InitialisedEvent, StepEvent, UpdateEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._drawn: dict[int, dict[str, InitialisedEvent]] = {}
        self._remembering: set[int] = set()

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, InitialisedEvent):
            self._drawn.setdefault(event.optimizer, {})[event.parameter] = event
        elif isinstance(event, UpdateEvent):
            if _remembers(event):
                self._remembering.add(event.optimizer)
        elif isinstance(event, StepEvent):
            self.looked += 1
            drawn = self._drawn.pop(event.optimizer, None)
            if drawn:
                yield from self._told(event, list(drawn.values()))

    def _told(self, event: StepEvent, drawn: list[InitialisedEvent]) -> Iterator[Breach]:
        first = drawn[0]
        if not first.remembers and event.optimizer in self._remembering:
            # The state was cleared too: a restart.
            return
        sure = first.remembers and len(drawn) >= _MOST * first.held
        params = {"names": few(one.parameter for one in drawn), "count": len(drawn), "updates": first.updates}
        yield Breach("tr_17.drawn_anew", replace(self.at(first), step=event.step), sure=sure, params=params)


@check("tr.17", "an update does not do what its optimizer should")
def from_laws(run: Run) -> Iterator[Finding]:
    """The first updates recomputed, the order of backward and update, and what becomes of what was learnt."""
    laws = (FollowsItsFormula, UsesGradientsOnce, OutlivesItsUpdate, KeepsWhatItLearnt)
    yield from judged(run, *laws, kept="tr_17.kept", unseen="tr_17.unseen")
