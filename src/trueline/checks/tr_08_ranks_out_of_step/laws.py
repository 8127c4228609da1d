"""Weights that ranks hold in common are equal after every update."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isclose, isfinite, prod
from typing import Final

from trueline.checks.engine.check import check, na, none, undecided
from trueline.checks.evidence.exchanges import JOIN, THROUGH_THE_MODEL
from trueline.checks.evidence.looks import few
from trueline.checks.laws.engine import heard_of_all, judged, ranks_law
from trueline.checks.laws.law import Breach, Lines, RanksLaw
from trueline.formats.run_folder.reader import Run
from trueline.model.events import Event, ExchangeEvent, LoadedEvent, ReplicasEvent, StepEvent, WeightsEvent
from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location
from trueline.model.run import ParamInfo

# So many updates on, weights that are equal again were averaged on purpose (local steps).
_PATIENCE: Final = 256
_NORM_ROOM: Final = 1e-5
_MIN_ELEMENTS: Final = 64


@dataclass(slots=True)
class _Step:
    """What is known of one step, by rank."""

    marks: dict[int, Mapping[str, str]] = field(default_factory=dict)
    norms: dict[int, dict[int, tuple[StepEvent, Location]]] = field(default_factory=dict)
    loaded: dict[int, Location] = field(default_factory=dict)
    sharded: bool = False


@dataclass(frozen=True, slots=True)
class _Apart:
    """Weights that are no longer equal: where this shows, and whether they were meant to be."""

    step: int
    rank: int
    names: Sequence[str]
    meant: bool
    where: Location
    said: str
    others_equal: bool


@ranks_law
class ReplicasStayEqual(RanksLaw):
    """A weight that was equal on all ranks, and is held in common, is equal after every update.

    It is held in common where it was broadcast, or was moved by an update and equal after it, or where all trained
    weights are alike. Layers of which ranks hold a part each, or one each, are none of these.
    """

    hears = (WeightsEvent, ReplicasEvent, StepEvent, LoadedEvent, ExchangeEvent)

    def __init__(self, run: Run, lines: Mapping[int, Lines]) -> None:
        super().__init__(run, lines)
        self._params = {rank: {param.name: param for param in run.rank(rank).params} for rank in run.ranks}
        # What is frozen now may be trained later.
        weights = {name for name in _common(self._params) if not self._params[run.ranks[0]][name].buffer}
        self._equal_at_start = {name for name in weights if _equal_at_start(self._params, name)}
        self._steps: dict[int, _Step] = {}
        self._last: dict[str, str] = {}
        self._common: set[str] = set()
        self._broadcast: set[str] = set()
        self._found: _Apart | None = None
        self._through = self._joined = self._again = False

    def hear(self, rank: int, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, ExchangeEvent):
            self._exchanged(event)
        elif not self._joined and event.phase == "train":
            step = self._steps.setdefault(event.step, _Step())
            if isinstance(event, StepEvent):
                step.norms.setdefault(rank, {})[event.optimizer] = (event, self.at(rank, event))
            elif isinstance(event, LoadedEvent):
                step.loaded[rank] = self.at(rank, event)
            elif isinstance(event, WeightsEvent | ReplicasEvent):
                step.sharded = step.sharded or (isinstance(event, WeightsEvent) and event.sharded)
                step.marks[rank] = event.fingerprints
                if len(step.marks) == len(self.run.ranks):
                    self._compare(event.step, self._steps.pop(event.step))
        yield from ()

    def _exchanged(self, event: ExchangeEvent) -> None:
        self._joined = self._joined or event.kind == JOIN
        self._through = self._through or event.kind in THROUGH_THE_MODEL
        if event.kind == "broadcast":
            self._broadcast.update(part.fingerprint for part in event.received if part.fingerprint is not None)

    def _compare(self, number: int, step: _Step) -> None:
        if step.sharded:
            self._joined = True
            return
        self.looked += 1
        lead, *others = (step.marks[rank] for rank in self.run.ranks)
        apart, moved = [], False
        for name, mark in lead.items():
            own = name.partition("[")[0]
            if own not in self._equal_at_start or any(name not in marks for marks in others):
                continue
            if any(marks[name] != mark for marks in others):
                apart.append(own)
                continue
            if self._last.get(name, self._first(name)) not in (mark, None) and self._is_no_chance(own):
                moved = True
                self._common.add(own)
            self._last[name] = mark
        if self._found is not None:
            known = [name for name in self._found.names if name in lead]
            self._again = self._again or bool(
                known and number - self._found.step < _PATIENCE and not set(known) & set(apart) and not step.loaded
            )
        elif apart:
            self._found = self._judged(number, step, apart, moved)

    def _is_no_chance(self, name: str) -> bool:
        """A few numbers may be moved alike by unlike gradients: the first step of Adam knows only their signs."""
        return prod(self._params[self.run.ranks[0]][name].shape) >= _MIN_ELEMENTS

    def _first(self, name: str) -> str | None:
        param = self._params[self.run.ranks[0]].get(name)
        return f"{param.initial.fingerprint:016x}" if param is not None and param.initial is not None else None

    def _judged(self, number: int, step: _Step, apart: list[str], moved: bool) -> _Apart | None:
        known = [name for name in apart if name in self._common or self._first(name) in self._broadcast]
        telling = [name for name in apart if not self._is_constant(name)]
        names = known or telling
        if not names:
            return None
        rank = self._odd(step, names)
        where, said = self._place(number, step, rank)
        return _Apart(number, rank, sorted({*names}), bool(known), where, said, moved or bool(self._common))

    def _is_constant(self, name: str) -> bool:
        """What begins as zeros or ones is equal everywhere whether it is held in common or not."""
        initial = self._params[self.run.ranks[0]][name].initial
        return initial is None or initial.minimum == initial.maximum

    def _odd(self, step: _Step, names: Sequence[str]) -> int:
        """The last of those ranks that are fewest alike."""
        alike = {rank: tuple(step.marks[rank].get(name) for name in names) for rank in self.run.ranks}
        counts = Counter(alike.values())
        loaded = [rank for rank in step.loaded if len(step.loaded) < len(alike)]
        return loaded[0] if loaded else min(sorted(alike, reverse=True), key=lambda rank: counts[alike[rank]])

    def _place(self, number: int, step: _Step, rank: int) -> tuple[Location, str]:
        if rank in step.loaded and len(step.loaded) < len(self.run.ranks):
            return step.loaded[rank], "tr_08.loaded_on_some"
        updates = step.norms.get(rank, {})
        for optimizer, (event, place) in updates.items():
            others = [of[optimizer][0].grad_norm for of in step.norms.values() if optimizer in of]
            if not _alike([event.grad_norm, *others]):
                return place, "tr_08.gradients_apart"
        where = next((place for _, place in updates.values()), Location(step=number, rank=rank))
        return where, "tr_08.weights_apart"

    def ended(self) -> Iterator[Breach]:
        found = self._found
        if found is None:
            return
        # Some of several networks, or parts of a model, may be each rank's own although they begin alike.
        sure = (found.meant or not (found.others_equal or self._through)) and not self._again
        yield Breach(
            found.said,
            found.where,
            sure=sure,
            measured=len(found.names),
            limit=0,
            evidence=list(found.names[:20]),
            params={"step": found.step, "rank": found.rank, "count": len(found.names), "names": few(found.names)},
        )


@ranks_law
class OneGradientOneWeight(RanksLaw):
    """Ranks that apply the same gradient to a weight in every update began with the same weight."""

    hears = (StepEvent,)

    def __init__(self, run: Run, lines: Mapping[int, Lines]) -> None:
        super().__init__(run, lines)
        self._params = {rank: {param.name: param for param in run.rank(rank).params} for rank in run.ranks}
        self._norms: dict[tuple[int, int], dict[int, StepEvent]] = {}
        self._same: Counter[int] = Counter()
        self._other: Counter[int] = Counter()
        self._where: dict[int, Location] = {}

    def hear(self, rank: int, event: Event, /) -> Iterator[Breach]:
        assert isinstance(event, StepEvent)
        if event.grad_norm:
            there = self._norms.setdefault((event.step, event.optimizer), {})
            there[rank] = event
            if rank == self.run.ranks[-1]:
                self._where.setdefault(event.optimizer, self.at(rank, event))
            if len(there) == len(self.run.ranks):
                self.looked += 1
                same = _alike([each.grad_norm for each in there.values()])
                (self._same if same else self._other)[event.optimizer] += 1
                del self._norms[event.step, event.optimizer]
        yield from ()

    def ended(self) -> Iterator[Breach]:
        for optimizer, count in sorted(self._same.items()):
            held = [
                name
                for name in sorted(_common(self._params))
                if all(params[name].optimizer == optimizer for params in self._params.values())
                and _is_trained(self._params, name)
            ]
            apart = [name for name in held if not _equal_at_start(self._params, name)]
            if count > 1 and not self._other[optimizer] and apart:
                yield Breach(
                    "tr_08.began_apart",
                    self._where.get(optimizer, Location()),
                    measured=len(apart),
                    limit=0,
                    evidence=apart[:20],
                    params={"count": len(apart), "names": few(apart)},
                )


def _common(params: Mapping[int, Mapping[str, ParamInfo]]) -> set[str]:
    """The names that all ranks have, with the same shape."""
    lead, *others = params.values()
    return {
        name
        for name, param in lead.items()
        if all(name in there and there[name].shape == param.shape for there in others)
    }


def _is_trained(params: Mapping[int, Mapping[str, ParamInfo]], name: str) -> bool:
    return all(there[name].trainable and not there[name].buffer for there in params.values())


def _equal_at_start(params: Mapping[int, Mapping[str, ParamInfo]], name: str) -> bool:
    marks = {initial.fingerprint if (initial := there[name].initial) is not None else None for there in params.values()}
    return len(marks) == 1 and None not in marks


def _alike(norms: Sequence[float | None]) -> bool:
    known = [norm for norm in norms if norm is not None and isfinite(norm)]
    return all(isclose(norm, known[0], rel_tol=_NORM_ROOM) for norm in known)


@check("tr.08", "ranks are out of step")
def from_laws(run: Run) -> Iterator[Finding]:
    """Weights and gradients of every update on all ranks."""
    if len(run.ranks) < 2:
        yield na("tr_08.one_rank")
        return
    steps = heard_of_all(run)[ReplicasStayEqual].looked
    problems = [
        finding
        for finding in judged(
            run, ReplicasStayEqual, OneGradientOneWeight, kept="tr_08.together", unseen="tr_08.together"
        )
        if finding.conclusion in (Conclusion.FOUND, Conclusion.SUSPECT)
    ]
    yield from problems
    if not problems and steps:
        evidence = [{"ranks": len(run.ranks), "steps": steps}]
        yield none("tr_08.together", evidence=evidence, ranks=len(run.ranks), steps=steps)
    elif not problems:
        yield undecided("tr_08.not_comparable")
