"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from trueline.checks.engine.check import Params, check, found, na, none, suspect, undecided
from trueline.checks.evidence.exchanges import ends_early
from trueline.checks.evidence.ranks import hold_parts
from trueline.checks.evidence.streams import Stream, training
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding

_DISTRIBUTED: Final = "DistributedSampler"
MIN_SAMPLES: Final = 8  # fewer overlap by chance
# Samplers fill parts up to the same size: so much of two parts may be the same.
MAX_FILLED: Final = 0.05


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
    if len(parts) > 1 and hold_parts(run) and not all(part.stream.sampler == _DISTRIBUTED for part in parts):
        # What passes through a model whose parts are on several ranks is the same samples on all of them.
        yield from problems or [undecided("dp_05.parts_of_a_model")]
        return
    if len(parts) > 1:
        uneven = [] if ends_early(run) else [*_sizes(parts)]
        problems += _overlap(parts, max_overlap) or [*uneven, *_left_out(parts)]
    yield from problems
    if problems:
        return
    if len(run.ranks) < 2:
        yield na("dp_05.one_process")
    elif len(parts) < 2:
        yield undecided("dp_05.no_batches")
    else:
        shown = [{"rank": part.rank, "samples": len(part.marks), "batches": part.batches} for part in parts]
        yield none("dp_05.divided", evidence=shown, ranks=len(parts))


def _part(run: Run, rank: int) -> _Part | None:
    streams = [stream for stream in training(run, rank) if stream.batches]
    if not streams:
        return None
    stream = max(streams, key=lambda stream: len(stream.batches))
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
    if len(marks) < MIN_SAMPLES:
        return None
    whole = len(passes) > 1 or (stream.length is not None and len(first) >= stream.length)
    return _Part(rank, stream, marks, indexes, len(first), whole)


def _overlap(parts: Sequence[_Part], max_overlap: float) -> list[Finding]:
    """The two parts that have most in common."""
    shares = [(_common(first, second), first, second) for first, second in combinations(parts, 2)]
    share, first, second = max(shares, key=lambda compared: compared[0])
    params: Params = {"share": f"{100 * share:.3g}", "rank": first.rank, "other": second.rank}
    seen: Params = {
        "measured": share,
        "limit": max_overlap,
        "evidence": [{"ranks": [first.rank, second.rank], "samples": [len(first.marks), len(second.marks)]}],
    }
    where = second.stream.where(rank=second.rank, step=second.stream.batches[0].step)
    # A sampler that divides one order gives no sample twice, but to fill the last batch.
    divided = all(part.stream.sampler == _DISTRIBUTED for part in (first, second))
    if share > (MAX_FILLED if divided and _numbered_twice(first, second) > len(parts) else max_overlap):
        return [found("dp_05.overlap", where, **seen, **params)]
    if share > MAX_FILLED and share * min(len(first.marks), len(second.marks)) > len(parts):
        return [suspect("dp_05.overlap", where, **seen, **params)]
    return []


def _common(first: _Part, second: _Part) -> float:
    """The share of the smaller part that is in the other as well."""
    here, there = set(first.marks), set(second.marks)
    by_content = len(here & there) / max(min(len(here), len(there)), 1)
    distributed = all(part.stream.sampler == _DISTRIBUTED for part in (first, second))
    if distributed and first.indexes is not None and second.indexes is not None:
        mine, others = set(first.indexes), set(second.indexes)
        return max(by_content, len(mine & others) / max(min(len(mine), len(others)), 1))
    return by_content


def _numbered_twice(first: _Part, second: _Part) -> int:
    """How many samples both were fed, by their numbers in the set."""
    return len(set(first.indexes or ()) & set(second.indexes or ()))


def _sizes(parts: Sequence[_Part]) -> Iterator[Finding]:
    whole = [part for part in parts if part.whole]
    if len(whole) < 2:
        return
    least, most = min(whole, key=lambda part: part.batches), max(whole, key=lambda part: part.batches)
    if least.batches != most.batches:
        yield found(
            "dp_05.sizes",
            most.stream.where(rank=most.rank),
            measured=most.batches,
            limit=least.batches,
            evidence=[{"rank": part.rank, "batches": part.batches} for part in whole],
            rank=most.rank,
            many=most.batches,
            other=least.rank,
            few=least.batches,
        )


def _left_out(parts: Sequence[_Part]) -> Iterator[Finding]:
    """Samples that no process was fed, where all number them alike."""
    samples = {part.stream.samples for part in parts}
    total = next(iter(samples))
    distributed = all(part.stream.sampler == _DISTRIBUTED for part in parts)
    if len(samples) != 1 or total is None or not distributed or not all(part.whole for part in parts):
        return
    fed = {index for part in parts for index in part.indexes or ()}
    # What is dropped so that all batches are full.
    dropped = sum(part.stream.batches[0].batch.size for part in parts)
    if all(part.indexes is not None for part in parts) and total - len(fed) > max(dropped, MAX_FILLED * total):
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
        if list(part.indexes[: len(again)]) == again and not in_order and len(again) >= MIN_SAMPLES:
            where = part.stream.where(rank=part.rank, step=passes[1][0].step)
            yield found(
                "dp_05.set_epoch",
                where,
                advice="dp_05.advice_set_epoch",
                evidence=[{"rank": part.rank, "first": list(part.indexes[:8])}],
                step=passes[1][0].step,
            )
            return
