"""What is said of a script's loss scale: the verdict, the shares by scale, what was tried; for people and programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from trueline.model.curve import Curve
from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Block, Curves, Report, Table, Text
from trueline.model.result import Exit, Result
from trueline.record.project import shown_line
from trueline.tune.scale.judging import MOST_LOST, MOST_VANISHED, Judged, Verdict, judge
from trueline.tune.scale.search import Searched
from trueline.tune.scale.seen import Seen
from trueline.tune.scale.shares import Row, nearest_power, table
from trueline.tune.scale.suggesting import Suggestion

_CONCLUSIONS: Final = {
    Verdict.HIGH: Conclusion.FOUND,
    Verdict.LOW: Conclusion.FOUND,
    Verdict.MISSING: Conclusion.FOUND,
    Verdict.FINE: Conclusion.NONE,
    Verdict.NOT_NEEDED: Conclusion.NONE,
    # Without half precision no loss scale is needed.
    Verdict.ASSUMED: Conclusion.NA,
    Verdict.NO_HALF: Conclusion.NA,
    Verdict.BRAIN: Conclusion.NA,
    Verdict.UNSEEN: Conclusion.OPEN,
    Verdict.HOPELESS: Conclusion.OPEN,
    Verdict.ZERO: Conclusion.OPEN,
}
_MOST_ROWS: Final = 16
# What a class calls the scale it begins with, its factor and its window.
_ARGUMENTS: Final = {
    "GradScaler": ("init_scale", "growth_factor", "growth_interval"),
    "DynamicLossScaler": ("scale_value", "scale_factor", "scale_window"),
    "DynamicLossScaleManager": ("init_loss_scale", "scale_factor", "scale_window"),
    "DynamicLossScaleUpdateCell": ("loss_scale_value", "scale_factor", "scale_window"),
    "StaticLossScaler": ("scale_value",),
    "FixedLossScaleManager": ("loss_scale",),
    "FixedLossScaleUpdateCell": ("loss_scale_value",),
    "sens": ("sens",),
}


def result(found: Searched, root: Path) -> Result:
    """The verb's answer."""
    judged = judge(found)
    finding = _finding(found, judged, root)
    suggestion = found.suggestion
    fields = {
        "updates": len(found.own.updates),
        "half": found.own.half,
        "scaler": _scaler_json(found.own, root),
        "before": _numbers(found.own),
        "after": _numbers(found.tried) if found.tried is not None and found.confirmed else None,
        "suggestion": _suggestion_json(suggestion, found) if suggestion is not None else None,
        "confirmed": found.confirmed,
        "scales": [[step, scale] for step, scale in _course(found.own)],
        "table": [
            {"scale": row.scale, "overflow": row.overflow, "underflow": row.underflow, "subnormal": row.subnormal}
            for row in _rows(found)
        ],
        "interrupted": found.interrupted,
    }
    code = Exit.PROBLEM if _CONCLUSIONS[judged.verdict] is Conclusion.FOUND else Exit.FINE
    return Result("tune scale", finding.message, code, [finding], fields)


def report(found: Searched, root: Path) -> Report:
    """For people."""
    judged = judge(found)
    blocks: list[Block] = []
    if found.interrupted:
        blocks.append(Text(message("tune_scale.interrupted", updates=len(found.own.updates))))
    if found.own.warm_up:
        blocks.append(Text(message("tune_scale.warm_up", updates=found.own.warm_up)))
    if found.failed is not None:
        blocks.append(Text(message("tune_scale.failed", reason=found.failed)))
    if (tried := _tried(found)) is not None:
        blocks.append(Text(tried))
    if rows := _rows(found):
        blocks.append(_table(rows, found))
    course = _course(found.own)
    if len(course) > 1:
        steps = [update.step for update in found.own.updates]
        scales = [float(nearest_power(update.scale)) for update in found.own.updates]
        blocks.append(Curves(message("tune_scale.course"), [Curve("log2", steps, scales)]))
    finding = _finding(found, judged, root)
    return Report(message("tune_scale.title"), finding.message, [finding], blocks)


def _finding(found: Searched, judged: Judged, root: Path) -> Finding:
    own = found.own
    params: dict[str, object] = {
        "updates": len(own.after),
        "lost": _percent(judged.lost),
        "vanished": _percent(judged.vanished),
        "scale": scale_text(own.scale),
    }
    if found.suggestion is not None:
        params["best"] = scale_text(found.suggestion.scale)
    line = shown_line(own.scaler.line, root) if own.scaler is not None else None
    return Finding(
        "mp.02",
        _CONCLUSIONS[judged.verdict],
        message(f"tune_scale.is_{judged.verdict.value}", **params),
        advice=_advice(found, judged.verdict),
        where=Location(file=line.file, line=line.line) if line is not None else Location(),
        measured={"lost": judged.lost, "vanished": judged.vanished} if judged.now is not None else None,
        limit={"lost": MOST_LOST, "vanished": MOST_VANISHED} if judged.now is not None else None,
    )


def _advice(found: Searched, verdict: Verdict) -> Message | None:
    suggestion, scaler = found.suggestion, found.own.scaler
    if verdict is Verdict.NO_HALF:
        return message("tune_scale.advice_assume")
    if verdict is Verdict.UNSEEN:
        return message("tune_scale.advice_unseen")
    if suggestion is None or verdict is Verdict.NOT_NEEDED:
        return None
    scale = scale_text(suggestion.scale)
    if scaler is None:
        return message("tune_scale.advice_new", scale=scale, window=suggestion.window)
    if scaler.kind is None:
        return message("tune_scale.advice_hand", scale=scale, own=scale_text(scaler.scale))
    names = _ARGUMENTS.get(scaler.kind, ("scale",))
    written = [f"{names[0]}=2**{suggestion.power}"]
    if scaler.dynamic and len(names) > 1:
        written += [f"{names[1]}={suggestion.factor:g}", f"{names[2]}={suggestion.window}"]
    return message("tune_scale.advice", kind=scaler.kind, arguments=", ".join(written))


def _tried(found: Searched) -> Message | None:
    tried, suggestion = found.tried, found.suggestion
    if suggestion is None or not found.own.half:
        return None
    if tried is None or not found.confirmed:
        return message("tune_scale.not_confirmed", best=scale_text(suggestion.scale))
    return message(
        "tune_scale.tried",
        best=scale_text(suggestion.scale),
        updates=len(tried.updates),
        lost=_percent(tried.lost_share),
        lost_before=_percent(found.own.lost_share),
        zeros=_percent(tried.sizes.zero_share),
        zeros_before=_percent(found.own.sizes.zero_share),
    )


def _rows(found: Searched) -> list[Row]:
    """From no scale at all up to one at which all overflows, with that of the script and the one suggested."""
    if found.suggestion is None:
        return []
    finest = found.finest
    own, best = nearest_power(found.own.scale), found.suggestion.power
    top = max(best, own) + 1
    while top < 64 and table([top], finest.updates, finest.sizes)[0].overflow < 1:
        top += 1
    stride = -(-(top + 1) // _MOST_ROWS)
    return table(sorted({*range(0, top + 1, stride), own, best}), finest.updates, finest.sizes)


def _table(rows: Sequence[Row], found: Searched) -> Table:
    own = nearest_power(found.own.scale)
    best = found.suggestion.power if found.suggestion is not None else None
    cells = []
    for row in rows:
        note = "own" if row.power == own else ""
        if row.power == best:
            note = "both" if note else "best"
        cells.append(
            (
                scale_text(row.scale),
                _percent(row.overflow),
                _percent(row.underflow),
                _percent(row.subnormal),
                message(f"tune_scale.note_{note}") if note else None,
            )
        )
    columns = [message(f"tune_scale.column_{name}") for name in ("scale", "overflow", "underflow", "subnormal", "note")]
    marked = frozenset(place for place, row in enumerate(rows) if row.power == best)
    return Table(message("tune_scale.table"), columns, cells, marked)


def _course(seen: Seen) -> list[tuple[int, float]]:
    """The scale where it begins and wherever it changes."""
    found: list[tuple[int, float]] = []
    for update in seen.updates:
        if not found or found[-1][1] != update.scale:
            found.append((update.step, update.scale))
    return found


def _numbers(seen: Seen) -> dict[str, object]:
    return {
        "updates": len(seen.updates),
        "scale": seen.scale,
        "warm_up": seen.warm_up,
        "lost": seen.lost_share,
        "zeros": seen.sizes.zero_share,
    }


def _suggestion_json(suggestion: Suggestion, found: Searched) -> dict[str, object]:
    scaler = found.own.scaler
    adapts = scaler is None or scaler.dynamic
    return {
        "scale": suggestion.scale,
        "factor": suggestion.factor if adapts else None,
        "window": suggestion.window if adapts else None,
    }


def _scaler_json(seen: Seen, root: Path) -> dict[str, object] | None:
    scaler = seen.scaler
    if scaler is None:
        return None
    line = shown_line(scaler.line, root)
    return {
        "kind": scaler.kind,
        "scale": scaler.scale,
        "factor": scaler.factor,
        "window": scaler.window,
        "file": line.file if line is not None else None,
        "line": line.line if line is not None else None,
    }


def scale_text(scale: float) -> str:
    """A power of two as one."""
    power = nearest_power(scale)
    return f"2^{power}" if 2.0**power == scale else f"{scale:g}"


def _percent(share: float) -> str:
    if share == 0:
        return "0 %"
    return f"{share:.1%}".replace("%", " %") if share >= 0.001 else "< 0.1 %"
