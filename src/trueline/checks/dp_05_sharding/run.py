"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from trueline.checks.engine.check import Params, check, found, na, none, suspect, undecided
from trueline.checks.evidence.feeding import Stream, training
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding

_DISTRIBUTED: Final = "DistributedSampler"
_FEWEST: Final = 8
# Samplers fill parts up to the same size: so much of two parts may be the same.
_FILLED: Final = 0.05


@dataclass(frozen=True, slots=True)
class _Part:
    """What one process was fed in its first pass."""

    rank: int
    stream: Stream
    marks: Sequence[tuple[int, ...]]
    indexes: Sequence[int] | None
    batches: int
    whole: bool


@check("dp.05", "the training set is divided wrongly between processes")
def from_run(run: Run, *, max_overlap: float = 0.5) -> Iterator[Finding]:
    """Overlap, coverage and sizes of the parts."""
    parts = [part for rank in run.ranks if (part := _part(run, rank)) is not None]
    problems = [*_same_epochs(parts)]
    if len(parts) > 1:
        problems += _overlap(parts, max_overlap) or [*_sizes(parts), *_left_out(parts)]
    yield from problems
    if problems:
        return
    if len(run.ranks) < 2:
        yield na("dp_05.one_process")
    elif len(parts) < 2:
        yield undecided("dp_05.no_batches")
    else:
        shown = [{"rank": one.rank, "samples": len(one.marks), "batches": one.batches} for one in parts]
        yield none("dp_05.divided", evidence=shown, ranks=len(parts))


def _part(run: Run, rank: int) -> _Part | None:
    streams = [one for one in training(run, rank) if one.batches]
    if not streams:
        return None
    stream = max(streams, key=lambda one: len(one.batches))
    passes = stream.iterations()
    first = passes[0]
    marks = [
        tuple(field.fingerprints[place] for field in fed.batch.fields)
        for fed in first
        for place in range(fed.batch.size)
    ]
    indexes: list[int] | None = []
    for fed in first:
        indexes = None if indexes is None or fed.batch.indexes is None else [*indexes, *fed.batch.indexes]
    if len(marks) < _FEWEST:
        return None
    whole = len(passes) > 1 or (stream.length is not None and len(first) >= stream.length)
    return _Part(rank, stream, marks, indexes, len(first), whole)


def _overlap(parts: Sequence[_Part], max_overlap: float) -> list[Finding]:
    """The two parts that have most in common."""
    shares = [(_common(one, other), one, other) for one, other in combinations(parts, 2)]
    share, one, other = max(shares, key=lambda found: found[0])
    params: Params = {"share": f"{100 * share:.3g}", "rank": one.rank, "other": other.rank}
    seen: Params = {
        "measured": share,
        "limit": max_overlap,
        "evidence": [{"ranks": [one.rank, other.rank], "samples": [len(one.marks), len(other.marks)]}],
    }
    where = other.stream.where(rank=other.rank, step=other.stream.batches[0].step)
    if share > max_overlap:
        return [found("dp_05.overlap", where, **seen, **params)]
    if share > _FILLED and share * min(len(one.marks), len(other.marks)) > len(parts):
        return [suspect("dp_05.overlap", where, **seen, **params)]
    return []


def _common(one: _Part, other: _Part) -> float:
    """The share of the smaller part that is in the other as well."""
    here, there = set(one.marks), set(other.marks)
    by_content = len(here & there) / max(min(len(here), len(there)), 1)
    distributed = all(part.stream.sampler == _DISTRIBUTED for part in (one, other))
    if distributed and one.indexes is not None and other.indexes is not None:
        mine, others = set(one.indexes), set(other.indexes)
        return max(by_content, len(mine & others) / max(min(len(mine), len(others)), 1))
    return by_content


def _sizes(parts: Sequence[_Part]) -> Iterator[Finding]:
    whole = [one for one in parts if one.whole]
    if len(whole) < 2:
        return
    least, most = min(whole, key=lambda one: one.batches), max(whole, key=lambda one: one.batches)
    if least.batches != most.batches:
        yield found(
            "dp_05.sizes",
            most.stream.where(rank=most.rank),
            measured=most.batches,
            limit=least.batches,
            evidence=[{"rank": one.rank, "batches": one.batches} for one in whole],
            rank=most.rank,
            many=most.batches,
            other=least.rank,
            few=least.batches,
        )


def _left_out(parts: Sequence[_Part]) -> Iterator[Finding]:
    """Samples that no process was fed, where all number them alike."""
    samples = {part.stream.samples for part in parts}
    total = next(iter(samples))
    distributed = all(one.stream.sampler == _DISTRIBUTED for one in parts)
    if len(samples) != 1 or total is None or not distributed or not all(one.whole for one in parts):
        return
    fed = {index for one in parts for index in one.indexes or ()}
    # What is dropped so that all batches are full.
    dropped = sum(one.stream.batches[0].batch.size for one in parts)
    if all(one.indexes is not None for one in parts) and total - len(fed) > max(dropped, _FILLED * total):
        yield found(
            "dp_05.left_out",
            parts[0].stream.where(),
            measured=total - len(fed),
            limit=dropped,
            evidence=[{"samples": total, "fed": len(fed)}],
            count=total - len(fed),
            total=total,
        )


def _same_epochs(parts: Sequence[_Part]) -> Iterator[Finding]:
    """A DistributedSampler that was not told which pass it is."""
    for part in parts:
        passes = part.stream.iterations()
        if part.stream.sampler != _DISTRIBUTED or len(passes) < 2 or part.indexes is None:
            continue
        again = [index for fed in passes[1] for index in fed.batch.indexes or ()]
        in_order = list(part.indexes) == sorted(part.indexes)
        if list(part.indexes[: len(again)]) == again and not in_order and len(again) >= _FEWEST:
            where = part.stream.where(rank=part.rank, step=passes[1][0].step)
            yield found(
                "dp_05.set_epoch",
                where,
                advice="dp_05.advice_set_epoch",
                evidence=[{"rank": part.rank, "first": list(part.indexes[:8])}],
                step=passes[1][0].step,
            )
            return
