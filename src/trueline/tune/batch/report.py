"""What is said of a ladder of batch sizes, for people and programs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Final

from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Table, Text
from trueline.model.result import Exit, Result
from trueline.record.project import shown_line
from trueline.tune.batch.judging import Judged, Verdict, judge
from trueline.tune.batch.ladder import Climbed, Rung
from trueline.tune.batch.probe import place_of

_CONCLUSIONS: Final = {
    Verdict.LARGE: Conclusion.FOUND,
    Verdict.FINE: Conclusion.NONE,
    Verdict.SMALLEST: Conclusion.NONE,
    Verdict.UNKNOWN: Conclusion.OPEN,
}
_DISTRIBUTED: Final = "DistributedSampler"


def result(found: Climbed, root: Path) -> Result:
    """The verb's answer."""
    judged = judge(found)
    finding = _finding(found, judged, root)
    loader = found.probed.loader
    line = shown_line(loader.line, root) if loader is not None else None
    fields = {
        "batch_size": found.probed.size,
        "passes": found.probed.passes,
        "argument": found.by_argument,
        "loader": {
            "kind": loader.kind,
            "size": loader.size,
            "file": line.file if line is not None else None,
            "line": line.line if line is not None else None,
        }
        if loader is not None
        else None,
        "metric": {"name": found.metric.name, "higher": found.metric.higher} if found.metric is not None else None,
        "margin": {"width": judged.margin.width, "why": judged.margin.why} if judged.margin is not None else None,
        "suggestion": {"batch_size": judged.best.size, "lr": judged.best.rate} if judged.best is not None else None,
        "rungs": [_rung_json(rung, less) for rung, less in zip(found.rungs, judged.lost, strict=True)],
        "interrupted": found.interrupted,
    }
    code = Exit.PROBLEM if judged.verdict is Verdict.LARGE else Exit.FINE
    return Result("tune batch", finding.message, code, [finding], fields)


def report(found: Climbed, root: Path) -> Report:
    """For people."""
    judged = judge(found)
    finding = _finding(found, judged, root)
    blocks: list[Block] = [Text(note) for note in _notes(found, judged, root)]
    if found.rungs:
        blocks.insert(1 if found.interrupted else 0, _table(found, judged))
    return Report(message("tune_batch.title"), finding.message, [finding], blocks)


def _finding(found: Climbed, judged: Judged, root: Path) -> Finding:
    loader = found.probed.loader
    line = shown_line(loader.line, root) if loader is not None and found.by_argument is None else None
    baseline = found.rungs[0] if found.rungs else None
    params: dict[str, object] = {}
    if judged.asked is not None and baseline is not None and found.metric is not None:
        params = {
            "size": judged.asked.size,
            "metric": found.metric.name,
            "value": _number(judged.asked.value),
            "base": baseline.size,
            "base_value": _number(baseline.value),
            "margin": _number(judged.margin.width if judged.margin is not None else None),
        }
    asked = list(found.rungs).index(judged.asked) if judged.asked is not None else None
    return Finding(
        "hp.03",
        _CONCLUSIONS[judged.verdict],
        message(f"tune_batch.is_{judged.verdict.value}", **params),
        advice=_advice(judged, baseline),
        where=Location(file=line.file, line=line.line) if line is not None else Location(),
        measured=judged.lost[asked] if asked is not None else None,
        limit=judged.margin.width if judged.margin is not None else None,
    )


def _advice(judged: Judged, baseline: Rung | None) -> Message | None:
    best = judged.best
    if best is None or baseline is None or judged.verdict is Verdict.UNKNOWN:
        return None
    params = {"size": best.size, "lr": _number(best.rate)}
    if best is baseline:
        return message("tune_batch.advice_base", **params)
    if best.speed is None or baseline.speed is None:
        return message("tune_batch.advice", **params)
    return message("tune_batch.advice_speed", gain=f"{best.speed / baseline.speed:.2g}", base=baseline.size, **params)


def _notes(found: Climbed, judged: Judged, root: Path) -> list[Message]:
    said = []
    if found.interrupted:
        said.append(message("tune_batch.interrupted", count=len(found.rungs)))
    # Advice stands with a problem; where there is none, what was found out is worth a line of its own.
    advice = _advice(judged, found.rungs[0] if found.rungs else None)
    if advice is not None and judged.verdict is not Verdict.LARGE:
        said.append(advice)
    loader = found.probed.loader
    if found.by_argument is not None:
        said.append(message("tune_batch.by_argument", argument=found.by_argument))
    elif loader is not None:
        place = place_of(shown_line(loader.line, root))
        said.append(message("tune_batch.by_loader", kind=loader.kind, place=place, size=loader.size))
    if found.probed.passes > 1:
        passes, size = found.probed.passes, found.probed.size
        said.append(message("tune_batch.accumulates", passes=passes, size=size, whole=passes * size))
    if loader is not None and loader.sampler == _DISTRIBUTED:
        said.append(message("tune_batch.distributed"))
    if judged.margin is not None and found.metric is not None:
        width = _number(judged.margin.width)
        said.append(message(f"tune_batch.margin_{judged.margin.why}", margin=width, metric=found.metric.name))
    baseline = found.rungs[0] if found.rungs else None
    if baseline is not None and len(baseline.values) > 1 and len(set(baseline.values)) == 1:
        said.append(message("tune_batch.same_repeats"))
    if any(rung.speed is not None for rung in found.rungs):
        said.append(message("tune_batch.speed_noise"))
    return said


def _table(found: Climbed, judged: Judged) -> Table:
    name = found.metric.name if found.metric is not None else message("tune_batch.column_metric")
    columns = [message(f"tune_batch.column_{one}") for one in ("size", "lr", "updates", "samples")]
    columns += [message("tune_batch.column_named", name=name)]
    columns += [message(f"tune_batch.column_{one}") for one in ("speed", "note")]
    rows = [
        (
            rung.size,
            rung.rate,
            rung.updates,
            rung.samples,
            rung.value,
            _speed(rung.speed),
            _note(rung, found, judged, less),
        )
        for rung, less in zip(found.rungs, judged.lost, strict=True)
    ]
    marked = frozenset(place for place, rung in enumerate(found.rungs) if rung is judged.best)
    return Table(message("tune_batch.table"), columns, rows, marked)


def _note(rung: Rung, found: Climbed, judged: Judged, less: float | None) -> Message | None:
    if rung.failed is not None:
        return rung.failed
    if rung is found.rungs[0]:
        return message("tune_batch.note_base")
    if less is None or judged.margin is None:
        return None
    kind = "within" if less <= judged.margin.width else "worse"
    return message(f"tune_batch.note_{kind}_own" if rung.size == found.probed.size else f"tune_batch.note_{kind}")


def _rung_json(rung: Rung, less: float | None) -> dict[str, object]:
    return {
        "batch_size": rung.size,
        "came": rung.came,
        "lr": rung.rate,
        "updates": rung.updates,
        "samples": rung.samples,
        "value": rung.value,
        "values": list(rung.values),
        "lost": less,
        "samples_per_second": rung.speed,
        "failed": rung.failed.text() if rung.failed is not None else None,
    }


def _number(value: float | None) -> str:
    if value is None:
        return "?"
    return f"{value:.4g}" if math.isfinite(value) else str(value)


def _speed(speed: float | None) -> str | None:
    return f"{speed:.3g}" if speed is not None and speed < 1000 else f"{speed:.0f}" if speed is not None else None
