"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.checks.engine.check import Params, check, found, na, suspect, undecided
from trueline.checks.evidence.inputs import Entered, into_network, is_whole, place_of
from trueline.checks.evidence.looks import is_recorded_whole, trained_rank
from trueline.checks.evidence.modes import has_evaluation
from trueline.checks.evidence.streams import Fed, Stream, evaluation, training
from trueline.formats.run_folder.reader import Run
from trueline.model.events import InputField
from trueline.model.finding import Finding
from trueline.model.json_value import JsonObject
from trueline.model.sample import SampleField

MIN_SAMPLES: Final = 16  # fewer have no bulk to compare
# Extremes are left out: noise and erased patches, which belong to training only, move them.
_STATISTICS: Final = ("std", "mean")
# Where only whole batches were seen: so many times another spread, or so many spreads apart.
MIN_BATCH_RATIO: Final = 4.0
# Two bulks that do not overlap must also be this far apart: in their own widths; spreads as a ratio, means in spreads.
MIN_GAP_WIDTHS: Final = 1.0
MIN_SPREAD_RATIO: Final = 1.5
MIN_MEAN_GAP: Final = 0.3


@dataclass(frozen=True, slots=True)
class _Apart:
    """A number of each sample whose bulk in training lies apart from that in evaluation."""

    statistic: str
    trained: tuple[float, float]
    evaluated: tuple[float, float]


@check("dp.02", "data is preprocessed otherwise at inference", decides=False)
def from_run(run: Run, *, max_changed: float = 0.1) -> Iterator[Finding]:
    """Training's inputs against evaluation's, and evaluation's against themselves."""
    trained, evaluated = into_network(run, "train"), into_network(run, "eval")
    if not trained or not evaluated:
        rank = trained_rank(run)
        if rank is not None and not has_evaluation(rank) and (trained or training(run)):
            yield (na if is_recorded_whole(run) else undecided)("dp_02.no_evaluation")
        else:
            yield undecided("dp_02.not_seen")
        return
    problems = [*_ranges(run, trained, evaluated), *_augmented(run, max_changed)]
    yield from problems
    if not problems:
        # Equal ranges do not show the same crop, size or order of channels.
        yield undecided("dp_02.same", evidence=[_shown(trained[0]), _shown(evaluated[0])])


def _shown(call: Entered) -> JsonObject:
    return {
        "phase": call.phase,
        "step": call.step,
        "fields": [[list(field.shape), field.summary.mean, field.summary.std] for field in call.fields],
    }


def _ranges(run: Run, trained: Sequence[Entered], evaluated: Sequence[Entered]) -> Iterator[Finding]:
    for place, (here, there) in enumerate(zip(trained[0].fields, evaluated[0].fields, strict=False)):
        if is_whole(here) or is_whole(there) or here.name != there.name or len(here.shape) != len(there.shape):
            continue
        apart = _by_samples(run, here, there)
        if apart is None:
            apart = _by_batches([_field(call, place) for call in trained], [_field(call, place) for call in evaluated])
        if isinstance(apart, _Apart):
            params: Params = {"statistic": apart.statistic, "train": _range(apart.trained)}
            where = place_of(run, evaluated[0].module, "eval", step=evaluated[0].step)
            yield found(
                "dp_02.apart",
                where,
                measured=list(apart.evaluated),
                limit=list(apart.trained),
                evidence=[_shown(trained[0]), _shown(evaluated[0])],
                eval=_range(apart.evaluated),
                input=here.name,
                **params,
            )
            return
        if len(here.shape) == 4 and here.shape[1:] != there.shape[1:]:
            yield suspect(
                "dp_02.sizes",
                place_of(run, evaluated[0].module, "eval", step=evaluated[0].step),
                measured=list(there.shape[1:]),
                limit=list(here.shape[1:]),
                train=_size(here),
                eval=_size(there),
                input=here.name,
            )
            return


def _field(call: Entered, place: int) -> InputField | None:
    return call.fields[place] if place < len(call.fields) else None


def _range(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:.3g}..{bounds[1]:.3g}"


def _size(field: InputField) -> str:
    return "x".join(str(side) for side in field.shape[1:])


def _by_samples(run: Run, in_training: InputField, in_evaluation: InputField) -> _Apart | bool | None:
    """By all samples of both, where the loaders' own fields enter the network; None where they do not."""
    trained, evaluated = _entering(training(run), in_training), _entering(evaluation(run), in_evaluation)
    if trained is None or evaluated is None:
        return None
    spread = 0.0
    for statistic in _STATISTICS:
        here, there = _bulk(trained, statistic), _bulk(evaluated, statistic)
        if here is None or there is None:
            return False
        spread = max(here[1], there[1]) if statistic == "std" else spread
        gap = max(here[0] - there[1], there[0] - here[1])
        width = max(here[1] - here[0], there[1] - there[0])
        least = (1 - 1 / MIN_SPREAD_RATIO) * spread if statistic == "std" else MIN_MEAN_GAP * spread
        if gap > MIN_GAP_WIDTHS * width and gap > least:
            return _Apart(statistic, here, there)
    return False


def _entering(streams: Sequence[Stream], field: InputField) -> list[SampleField] | None:
    """The field of a loader's batches that the network was called with as it is, in its first step."""
    for stream in streams:
        for place, fed_field in enumerate(stream.batches[0].batch.fields if stream.batches else ()):
            if _is_same(fed_field, field):
                return [
                    fed.batch.fields[place]
                    for fed in stream.batches
                    if place < len(fed.batch.fields) and fed.batch.fields[place].name == fed_field.name
                ]
    return None


def _is_same(fed_field: SampleField, field: InputField) -> bool:
    summary = field.summary
    near = 1e-5 * max(abs(summary.minimum), abs(summary.maximum), 1e-6)
    return (
        fed_field.shape == field.shape[1:]
        and len(fed_field.minimum) == field.shape[0]
        and abs(min(fed_field.minimum) - summary.minimum) <= near
        and abs(max(fed_field.maximum) - summary.maximum) <= near
    )


def _bulk(fields: Sequence[SampleField], statistic: str) -> tuple[float, float] | None:
    """Where most samples lie: without the outer twentieth on both sides."""
    values = sorted(value for field in fields for value in getattr(field, statistic))
    if len(values) < MIN_SAMPLES:
        return None
    off = len(values) // 20
    return values[off], values[-1 - off]


def _by_batches(trained: Sequence[InputField | None], evaluated: Sequence[InputField | None]) -> _Apart | None:
    """By whole batches: only what is far off counts."""
    here = [field.summary for field in trained if field is not None and field.summary.std > 0]
    there = [field.summary for field in evaluated if field is not None and field.summary.std > 0]
    if not here or not there:
        return None
    spreads = (min(summary.std for summary in here), max(summary.std for summary in here))
    spreads_there = (min(summary.std for summary in there), max(summary.std for summary in there))
    if spreads_there[0] > MIN_BATCH_RATIO * spreads[1] or spreads[0] > MIN_BATCH_RATIO * spreads_there[1]:
        return _Apart("std", spreads, spreads_there)
    means = (min(summary.mean for summary in here), max(summary.mean for summary in here))
    means_there = (min(summary.mean for summary in there), max(summary.mean for summary in there))
    gap = max(means[0] - means_there[1], means_there[0] - means[1])
    return _Apart("mean", means, means_there) if gap > MIN_BATCH_RATIO * max(spreads[1], spreads_there[1]) else None


def _augmented(run: Run, max_changed: float) -> Iterator[Finding]:
    """A sample that is another one in the next evaluation, with the label that it had."""
    for stream in evaluation(run):
        passes = stream.iterations()
        if stream.loader is None or len(passes) < 2:
            continue
        first, second = _samples(passes[0]), _samples(passes[1])
        common = [key for key in first if key in second]
        inputs = [place for place in _floats(passes[0][0]) if all(place < len(first[key]) for key in common)]
        rest = [place for place in range(len(passes[0][0].batch.fields)) if place not in inputs]
        kept = [key for key in common if all(first[key][place] == second[key][place] for place in rest)]
        labels = {tuple(first[key][place] for place in rest) for key in kept}
        if len(kept) < MIN_SAMPLES or len(kept) < 0.99 * len(common) or not rest or len(labels) < 2:
            continue
        changed = [key for key in kept if any(first[key][place] != second[key][place] for place in inputs)]
        if len(changed) > max_changed * len(kept):
            yield found(
                "dp_02.augmented",
                stream.where(step=passes[1][0].step, sample=changed[0] if passes[0][0].batch.indexes else None),
                measured=len(changed) / len(kept),
                limit=max_changed,
                evidence=[{"samples": len(kept), "changed": len(changed)}],
                changed=len(changed),
                count=len(kept),
                step=passes[1][0].step,
            )
            return


def _floats(fed: Fed) -> list[int]:
    return [place for place, field in enumerate(fed.batch.fields) if field.dtype.startswith("float") and field.shape]


def _samples(batches: Sequence[Fed]) -> dict[int, tuple[int, ...]]:
    """The fingerprints of samples, by index where it is seen, else by place."""
    found: dict[int, tuple[int, ...]] = {}
    place = 0
    for fed in batches:
        for row in range(fed.batch.size):
            key = fed.batch.indexes[row] if fed.batch.indexes is not None else place
            found[key] = tuple(field.fingerprints[row] for field in fed.batch.fields)
            place += 1
    return found
