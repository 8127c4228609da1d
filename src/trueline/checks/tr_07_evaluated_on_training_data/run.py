"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from trueline.checks.engine.check import Params, check, found, na, none, suspect, undecided
from trueline.checks.evidence.looks import TRAIN, is_recorded_whole, loop_where, trained_rank
from trueline.checks.evidence.modes import has_evaluation
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import BatchEvent, EndEvent, LoaderEvent, StepEvent
from trueline.model.finding import Certainty, Finding
from trueline.model.sample import SampleField

MAX_EVENTS = 100_000  # a longer look takes minutes, and shows no more
MIN_SAMPLES = 8  # fewer are the same by chance


@check("tr.07", "evaluation on training data")
def from_run(run: Run, *, min_share: float = 0.5, max_share: float = 0.05) -> Iterator[Finding]:
    """Samples that were seen in both phases."""
    rank = trained_rank(run)
    trained, evaluated = _samples(rank) if rank is not None else ({}, {})
    if rank is None or not trained or not evaluated:
        absent = rank is not None and trained and not has_evaluation(rank) and is_recorded_whole(run)
        yield (na if absent else undecided)("tr_07.no_evaluation")
        return
    if max(map(len, trained.values())) < MIN_SAMPLES or all(len(marks) < MIN_SAMPLES for marks in evaluated.values()):
        yield undecided("tr_07.few")
        return
    shares = {loader: _share(marks, trained) for loader, marks in evaluated.items()}
    evidence = [
        {"loader": loader, "share": share, "samples": len(evaluated[loader])} for loader, share in shares.items()
    ]
    loader, share = min(shares.items(), key=lambda pair: pair[1])
    params: Params = {"share": f"{share:.0%}", "samples": len(evaluated[loader])}
    begun = next((event for event in rank.events(LoaderEvent) if event.loader == loader), None)
    place = loop_where(begun)
    chance = _chance(rank)
    if share >= min_share and share > chance + min_share / 2:
        yield found(
            "tr_07.same",
            place,
            certainty=Certainty.LIKELY,
            measured=share,
            limit=min_share,
            evidence=evidence,
            **params,
        )
    elif share > max_share:
        yield suspect("tr_07.some", place, measured=share, limit=max_share, evidence=evidence, **params)
    else:
        yield none("tr_07.apart", evidence=evidence, measured=share, limit=max_share, **params)


def _chance(rank: RankFolder) -> float:
    """How many samples of the second half of an epoch had come in its first half: so alike is the data to itself."""
    marks: list[int] = []
    first = None
    for event in rank.events(LoaderEvent, BatchEvent, phase=TRAIN):
        if isinstance(event, LoaderEvent) and marks and event.loader == first:
            break
        if isinstance(event, BatchEvent):
            first = event.loader if first is None else first
            marks.extend(_marks(event))
    half = len(marks) // 2
    seen = set(marks[:half])
    return sum(mark in seen for mark in marks[half:]) / max(len(marks) - half, 1)


def _share(marks: set[tuple[int, int]], trained: Mapping[int, set[int]]) -> float:
    return sum(mark in trained.get(era, ()) for era, mark in marks) / len(marks)


def _samples(rank: RankFolder) -> tuple[dict[int, set[int]], dict[int | None, set[tuple[int, int]]]]:
    """What was trained on, by era, and what was evaluated, by loader.

    A new optimizer begins an era: in a cross validation another network may have trained on what is new to this one.
    """
    trained: dict[int, set[int]] = {}
    evaluated: dict[int | None, set[tuple[int, int]]] = {}
    era = 0
    waiting: list[int] = []
    for place, event in enumerate(rank.events()):
        if place >= MAX_EVENTS:
            break
        if isinstance(event, BatchEvent):
            marks = _marks(event)
            if event.phase == TRAIN:
                waiting.extend(marks)
            elif marks and trained:
                # Before training begins a network is calibrated with what it will be trained on.
                evaluated.setdefault(event.loader, set()).update((era, mark) for mark in marks)
        elif isinstance(event, StepEvent):
            era = max(era, event.optimizer)
        elif isinstance(event, EndEvent) and event.phase == TRAIN:
            trained.setdefault(era, set()).update(waiting)
            waiting = []
    return trained, evaluated


def _marks(event: BatchEvent) -> Sequence[int]:
    fields = [field for field in event.batch().fields if _telling(field)]
    return max(fields, key=lambda field: prod(field.shape)).fingerprints if fields else []


def _telling(field: SampleField) -> bool:
    return prod(field.shape) > 1 or field.dtype.startswith("float") or field.dtype == "str"
