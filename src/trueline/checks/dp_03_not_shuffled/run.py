"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trueline.checks.engine.check import Params, check, found, none, suspect, undecided
from trueline.checks.evidence.labels import label_name, labels_of
from trueline.checks.evidence.streams import Fed, Stream, training
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.json_value import Json

MIN_BATCHES = 2  # one batch has no order
MIN_SAMPLES = 8  # fewer come in the same order by chance


@dataclass(frozen=True, slots=True)
class _Pass:
    """One pass over the training set: its samples' fingerprints and indexes, in order."""

    batches: Sequence[Fed]
    marks: Sequence[tuple[int, ...]]
    indexes: Sequence[int] | None


@check("dp.03", "training data is not shuffled")
def from_run(run: Run, *, min_repeat: float = 0.99) -> Iterator[Finding]:
    """The order of samples in each pass over each training loader."""
    reasons: list[Finding] = []
    for stream in training(run):
        answer = _of_stream(stream, min_repeat)
        if answer is not None:
            reasons.append(answer)
    problems = [answer for answer in reasons if answer.conclusion.value in ("found", "suspect")]
    if problems or reasons:
        yield from problems or reasons[:1]
    else:
        yield undecided("dp_03.too_little")


def _of_stream(stream: Stream, min_repeat: float) -> Finding | None:
    passes = [whole for whole in _passes(stream) if len(whole.marks) >= MIN_SAMPLES]
    if not passes:
        return None
    if all(len(whole.batches) < MIN_BATCHES for whole in passes):
        return none("dp_03.one_batch", evidence=[{"batches": len(stream.batches)}])
    if len(passes) > 1:
        return _of_passes(stream, passes, min_repeat)
    return _of_one(stream, passes[0])


def _of_passes(stream: Stream, passes: Sequence[_Pass], min_repeat: float) -> Finding:
    first, second = passes[0], passes[1]
    share = _same(first, second)
    evidence: list[Json] = [{"passes": len(passes), "same": share, "samples": len(first.marks)}]
    if share < min_repeat:
        return none("dp_03.shuffled", measured=share, limit=min_repeat, evidence=evidence, passes=len(passes))
    where = stream.where(step=second.batches[0].step)
    params: Params = {"share": f"{100 * share:.3g}", "step": second.batches[0].step}
    if first.indexes is not None and _is_sorted(first.indexes):
        return found("dp_03.in_order", where, measured=share, limit=min_repeat, evidence=evidence, **params)
    if stream.loader is None or stream.shuffle is False:
        return found("dp_03.same_order", where, measured=share, limit=min_repeat, evidence=evidence, **params)
    runs = _long_runs(stream, first)
    if runs is not None:
        return found("dp_03.by_class", where, measured=runs, evidence=evidence, run=runs, **params)
    if stream.sampler is None and stream.shuffle is None:
        # A stream of the user's own: nothing in the loader could shuffle it.
        return found("dp_03.same_order", where, measured=share, limit=min_repeat, evidence=evidence, **params)
    return suspect("dp_03.same_shuffle", where, measured=share, limit=min_repeat, evidence=evidence, **params)


def _of_one(stream: Stream, only: _Pass) -> Finding:
    """One pass: the loader says what it does, and the labels show it."""
    runs = _long_runs(stream, only)
    evidence: list[Json] = [{"passes": 1, "samples": len(only.marks), "shuffle": stream.shuffle}]
    where = stream.where(step=only.batches[0].step)
    if stream.shuffle is True and runs is None:
        return none("dp_03.loader_shuffles", evidence=evidence, sampler=str(stream.sampler))
    if runs is not None:
        return found("dp_03.by_class_once", where, measured=runs, evidence=evidence, run=runs)
    if only.indexes is not None and _is_sorted(only.indexes) and stream.shuffle is False:
        return found("dp_03.in_order_once", where, evidence=evidence)
    return undecided("dp_03.one_pass", where=where)


def _passes(stream: Stream) -> list[_Pass]:
    if stream.loader is None:
        return [_pass(batches) for batches in _by_period(stream.batches)]
    repeats = stream.facts.repeat if stream.facts is not None else None
    found = []
    for batches in stream.iterations():
        times = repeats if repeats is not None and repeats > 1 and len(batches) % repeats == 0 else 1
        size = len(batches) // times
        found += [batches[place * size : (place + 1) * size] for place in range(times)]
    # The last one may have been broken off.
    return [_pass(batches) for batches in found if batches]


def _pass(batches: Sequence[Fed]) -> _Pass:
    marks = [mark for fed in batches for mark in _marks(fed)]
    indexes: list[int] | None = []
    for fed in batches:
        indexes = None if indexes is None or fed.batch.indexes is None else [*indexes, *fed.batch.indexes]
    return _Pass(batches, marks, indexes)


def _marks(fed: Fed) -> list[tuple[int, ...]]:
    return [tuple(field.fingerprints[place] for field in fed.batch.fields) for place in range(fed.batch.size)]


def _by_period(batches: Sequence[Fed]) -> list[Sequence[Fed]]:
    """Passes of a loop without a loader: from the first batch's coming again on."""
    marks = [tuple(_marks(fed)) for fed in batches]
    again = next((place for place in range(1, len(marks)) if marks[place] == marks[0]), None)
    # The same batch at every step is the whole set, or meant to be learned by heart.
    if again is None or again < 2:
        return []
    return [batches[place : place + again] for place in range(0, len(batches) - again + 1, again)]


def _same(first: _Pass, second: _Pass) -> float:
    """The share of places with the same sample, by content; where augmentation changes every sample, by index."""
    together = len(set(first.marks) & set(second.marks)) / max(len(set(first.marks)), 1)
    if together > 0.5 or first.indexes is None or second.indexes is None:
        return _share(first.marks, second.marks)
    if not _labels_kept(first, second):
        # New samples under old indexes: the set is made as it goes.
        return 0.0
    return _share(first.indexes, second.indexes)


def _share(first: Sequence[object], second: Sequence[object]) -> float:
    length = min(len(first), len(second))
    return sum(a == b for a, b in zip(first, second, strict=False)) / length if length else 0.0


def _labels_kept(first: _Pass, second: _Pass) -> bool:
    """Whether a sample has at least one field that is the same again: its label, where its picture is augmented."""
    known = dict(zip(first.indexes or (), first.marks, strict=False))
    again = zip(second.indexes or (), second.marks, strict=False)
    pairs = [(known[index], marks) for index, marks in again if index in known]
    if not pairs:
        return False
    kept = sum(any(here == there for here, there in zip(a, b, strict=False)) for a, b in pairs)
    return kept > 0.9 * len(pairs)


def _is_sorted(indexes: Sequence[int]) -> bool:
    return len(set(indexes)) > 1 and all(index <= following for index, following in pairwise(indexes))


def _long_runs(stream: Stream, only: _Pass) -> int | None:
    """The mean length of runs of one label, where it is many times what chance gives."""
    name = label_name(stream)
    if name is None:
        return None
    values = [label.value for label in labels_of(only.batches, name)]
    classes = len(set(values))
    if classes < 2 or len(values) < 8 * classes:
        return None
    runs = 1 + sum(value != following for value, following in pairwise(values))
    share = max(values.count(value) for value in set(values)) / len(values)
    expected = 1 / max(1 - share, 1e-6)
    mean = len(values) / runs
    return round(mean) if mean > 8 and mean > 6 * expected else None
