"""What a run shows of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean

from trueline.checks.engine.check import Params, check, found, na, none, suspect, undecided
from trueline.checks.evidence.inputs import (
    LOOKING_UP,
    NORMALISING,
    Entered,
    entered,
    into_first_layer,
    is_whole,
    place_of,
)
from trueline.checks.evidence.streams import training
from trueline.formats.run_folder.reader import Run
from trueline.model.events import InputField
from trueline.model.finding import Finding
from trueline.model.json_value import Json
from trueline.model.location import Location

# So few numbers tell nothing of a distribution.
MIN_NUMBERS = 8
# A feature of this spread is large by itself, and not only beside a small one.
MIN_LARGE_STD = 3.0


@check("dp.01", "data is not normalised")
def from_run(run: Run, *, max_mean: float = 3.0, max_std: float = 10.0, max_apart: float = 100.0) -> Iterator[Finding]:
    """The input of the first layer with weights, and other inputs that reach a layer untouched."""
    calls = _calls(run)
    if not calls:
        yield _from_loader(run, max_mean, max_std) or undecided("dp_01.not_seen")
        return
    looked: list[Json] = []
    reported = False
    for call in calls:
        if any(word in call.kind.lower() for word in NORMALISING):
            looked.append({"module": call.module, "kind": call.kind})
            continue
        where = place_of(run, call.module, step=call.step)
        for field in call.fields:
            if not _counts(field):
                continue
            looked.append({"module": call.module, "mean": field.summary.mean, "std": field.summary.std})
            finding = _judged(call, field, where, (max_mean, max_std, max_apart))
            if finding is not None:
                reported = True
                yield finding
                break
    if reported:
        return
    if looked:
        yield none("dp_01.normalised", evidence=looked, count=len(looked))
    else:
        yield na("dp_01.ids")


def _from_loader(run: Run, max_mean: float, max_std: float) -> Finding | None:
    """Where the network was not seen: what the loader gave may still have been scaled on its way."""
    for stream in training(run):
        for field in stream.batches[0].batch.fields if stream.batches else ():
            if not field.dtype.startswith("float") or not field.shape or not len(field.mean):
                continue
            mean, std = fmean(field.mean), fmean(field.std)
            if abs(mean) > max_mean or std > max_std:
                params: Params = {"field": field.name, "mean": mean, "std": std}
                seen: Params = {"measured": [mean, std], "limit": [max_mean, max_std], "evidence": [params]}
                return suspect("dp_01.loader", stream.where(step=stream.batches[0].step), **seen, **params)
    return None


def _calls(run: Run) -> list[Entered]:
    """The first layer with weights, and others that are called with what the network was called with."""
    first = into_first_layer(run, "train")
    if first is None:
        return []
    owners = {param.name.rpartition(".")[0] for param in run.rank(run.ranks[0]).params}
    calls = [call for call in entered(run) if call.phase == "train" and call.step == first.step and not call.is_loss]
    given = {field.summary.fingerprint for field in calls[0].fields}
    others = [
        call
        for call in calls
        if call.module in owners and call is not first and {field.summary.fingerprint for field in call.fields} <= given
    ]
    return [first, *others]


def _counts(field: InputField) -> bool:
    """Whether it holds numbers with a fraction that vary."""
    return not is_whole(field) and field.summary.count >= MIN_NUMBERS and field.summary.std > 0


def _judged(call: Entered, field: InputField, where: Location, limits: tuple[float, float, float]) -> Finding | None:
    if any(word in call.kind.lower() for word in LOOKING_UP):
        return None
    max_mean, max_std, max_apart = limits
    summary = field.summary
    params: Params = {"module": call.module or call.kind, "mean": summary.mean, "std": summary.std}
    params |= {"low": summary.minimum, "high": summary.maximum}
    evidence: list[Json] = [
        {"shape": list(field.shape), "mean": summary.mean, "std": summary.std, "min": summary.minimum}
    ]
    if abs(summary.mean) > max_mean or summary.std > max_std:
        advice = "dp_01.advice_pixels" if summary.minimum >= 0 and 100 < summary.maximum <= 255 else None
        measured, limit = [summary.mean, summary.std], [max_mean, max_std]
        return found("dp_01.large", where, advice=advice, measured=measured, limit=limit, evidence=evidence, **params)
    if field.columns is None:
        return None
    spreads = [(std, place) for place, std in enumerate(field.columns.std) if std > 0 and math.isfinite(std)]
    if len(spreads) < 2:
        return None
    (least, small), (most, large) = min(spreads), max(spreads)
    if most / least <= max_apart:
        return None
    shown = {"large": large, "small": small, "times": f"{most / least:.3g}", **params}
    seen: Params = {"measured": most / least, "limit": max_apart, "evidence": evidence}
    if most > MIN_LARGE_STD:
        return found("dp_01.apart", where, **seen, **shown)
    return suspect("dp_01.apart", where, **seen, **shown)
