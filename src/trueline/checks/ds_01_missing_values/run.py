"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.ds_01_missing_values.markers import marked
from trueline.checks.engine.check import Params, check, found, none, suspect, undecided
from trueline.checks.evidence.looks import first_non_finite
from trueline.checks.evidence.streams import Fed, Stream, is_whole_set, streams
from trueline.formats.run_folder.reader import Run
from trueline.model.events import StepEvent
from trueline.model.finding import Certainty, Finding
from trueline.model.json_value import Json
from trueline.model.sample import SampleField


@check("ds.01")
def from_run(run: Run) -> Iterator[Finding]:
    """Samples with numbers that are not finite, in the batches of all ranks."""
    looked = 0
    reported = False
    whole = True
    for rank in run.ranks:
        broken = _first_broken(run, rank)
        for stream in streams(run, rank):
            if broken is not None and stream.phase == "eval" and stream.loader is None:
                # What a loss is called with after the training broke is what the network gave.
                continue
            looked += sum(fed.batch.size for fed in stream.batches)
            whole = whole and (stream.phase != "train" or is_whole_set(stream))
            finding = _of_stream(
                stream, rank if len(run.ranks) > 1 else None, broken, seen=_are_gradients_seen(run, rank)
            )
            for problem in (finding, *(_markers(run, stream) if rank == run.ranks[0] else ())):
                if problem is not None:
                    reported = True
                    yield problem
    if reported:
        return
    if not looked:
        yield undecided("ds_01.no_batches")
    else:
        # Of samples that were not fed nothing is known.
        yield (none if whole else undecided)("ds_01.all_finite", evidence=[{"samples": looked}], samples=looked)


def _of_stream(stream: Stream, rank: int | None, broken: int | None, *, seen: bool) -> Finding | None:
    count, first = 0, None
    for fed in stream.batches:
        for field in fed.batch.fields:
            kinds = {kind: rows for kind, rows in field.nonfinite.items() if not _is_mask(field, kind)}
            if kinds:
                count += len(set().union(*kinds.values()))
                first = first or (fed, field, kinds)
    if first is None:
        return None
    fed, field, kinds = first
    kind, rows = next(iter(kinds.items()))
    sample = _sample(fed, rows[0])
    params: Params = {
        "field": field.name,
        "kind": _WORDS[kind],
        "count": count,
        "step": fed.step,
        "place": rows[0],
    }
    where = stream.where(rank, fed.step, sample)
    evidence: list[Json] = [
        {"field": field.name, "step": fed.step, "kind": kind, "samples": [_sample(fed, row) for row in rows]}
    ]
    hurts = (broken is not None and (stream.phase == "eval" or broken <= fed.step + 1)) or "+inf" in kinds
    if stream.phase == "train" and (hurts or not seen):
        # In a graph nobody has seen gradients: a loss alone may stay finite, as behind MindSpore's ReLU.
        params["certainty"] = Certainty.CERTAIN if hurts else Certainty.LIKELY
        return found("ds_01.not_finite", where, measured=count, limit=0, evidence=evidence, **params)
    if stream.phase == "eval" and hurts:
        return found("ds_01.not_finite_eval", where, measured=count, limit=0, evidence=evidence, **params)
    return suspect("ds_01.harmless", where, measured=count, limit=0, evidence=evidence, **params)


def _markers(run: Run, stream: Stream) -> Iterator[Finding]:
    """Markers that the network is given; those that it is not given have been taken out."""
    for marker in marked(run, stream):
        if marker.enters is False or stream.phase != "train":
            continue
        fed, place = min(marker.samples, key=lambda pair: -1 if (index := _sample(*pair)) is None else index)
        params: Params = {"field": marker.field, "value": f"{marker.value:g}", "count": len(marker.samples)}
        seen: Params = {
            "measured": len(marker.samples),
            "limit": 0,
            "evidence": [{"field": marker.field, "samples": [_sample(*pair) for pair in marker.samples[:20]]}],
        }
        where = stream.where(step=fed.step, sample=_sample(fed, place))
        if marker.enters:
            yield found("ds_01.marker", where, certainty=Certainty.LIKELY, **seen, **params)
        else:
            yield suspect("ds_01.marker", where, **seen, **params)


_WORDS = {"nan": "NaN", "+inf": "+Inf", "-inf": "-Inf"}


def _is_mask(field: SampleField, kind: str) -> bool:
    """Nothing but zeros and -Inf is a mask that is added to scores."""
    rows = field.nonfinite[kind]
    return (
        kind == "-inf"
        and "nan" not in field.nonfinite
        and all(field.minimum[row] == 0 and field.maximum[row] == 0 for row in rows)
    )


def _sample(fed: Fed, place: int) -> int | None:
    return fed.batch.indexes[place] if fed.batch.indexes is not None else None


def _are_gradients_seen(run: Run, rank: int) -> bool:
    return any(update.grad_norm is not None for update in run.rank(rank).events(StepEvent, phase="train"))


def _first_broken(run: Run, rank: int) -> int | None:
    """The first training step whose loss or gradient is not finite: MindSpore's ReLU makes a zero of NaN."""
    broken = first_non_finite(run.rank(rank))
    return broken.event.step if broken is not None else None
