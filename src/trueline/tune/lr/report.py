"""What is said of a range test: one sentence, the finding, JSON, and a report with the curve."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from trueline.model.curve import Curve
from trueline.model.finding import Conclusion
from trueline.model.message import Message, message
from trueline.model.report import Axis, Block, Curves, Mark, Report, Table, Text
from trueline.model.result import Exit, Result
from trueline.tune.lr.finding import finding, what, why_not
from trueline.tune.lr.tested import LOSS, Tested
from trueline.tune.rates import short

# The curve is drawn up to its start plus so many times what was gained: a diverged loss would flatten the rest.
_SHOWN_RISE: Final = 1.0


def conclusion(tested: Tested) -> Message:
    """One sentence."""
    reason = why_not(tested)
    bounds = tested.bounds
    if reason is not None or bounds.suggestion is None:
        return message("tune_lr.says_nothing", reason=reason or what(tested))
    params = {"what": what(tested), "suggestion": short(bounds.suggestion)}
    last = tested.points[-1].rate
    begins = (
        message("tune_lr.begins", rate=short(bounds.lower))
        if bounds.lower is not None
        else message("tune_lr.begins_before", rate=short(tested.low))
    )
    ends = (
        message("tune_lr.ends", rate=short(bounds.upper))
        if bounds.upper is not None
        else message("tune_lr.ends_later", rate=short(last))
    )
    return message("tune_lr.bounds", begins=begins, ends=ends, **params)


def result(tested: Tested) -> Result:
    """The verb's answer."""
    found = finding(tested)
    bounds = tested.bounds
    fields: dict[str, object] = {
        "lower": bounds.lower,
        "upper": bounds.upper,
        "suggestion": bounds.suggestion,
        "steepest": bounds.steepest,
        "own": tested.own,
        "own_first": tested.own_first,
        "metric": tested.metric,
        "tried": {"from": tested.low, "to": tested.high, "steps": tested.updates, "runs": tested.runs},
        "ended": _ended(tested),
        "optimizers": [{"kind": optimizer.kind, "lr": list(optimizer.rates)} for optimizer in tested.optimizers],
        "losses_each": tested.losses_each,
        "shorter_than": tested.shorter_than,
        "curve": [
            {"lr": point.rate, "loss": point.loss, "accuracy": point.accuracy, "smoothed": smoothed}
            for point, smoothed in zip(tested.points, _smoothed(tested), strict=True)
        ],
    }
    code = Exit.PROBLEM if found.conclusion is Conclusion.FOUND else Exit.FINE
    return Result("tune lr", conclusion(tested), code, [found], fields)


def _ended(tested: Tested) -> str:
    if tested.interrupted:
        return "interrupted"
    if tested.diverged:
        return "diverged"
    return "failed" if tested.failed is not None else "whole"


def _smoothed(tested: Tested) -> list[float | None]:
    """The smoothed metric at each point; None where there is none."""
    sign = 1 if tested.metric == LOSS else -1
    found: list[float | None] = [None] * len(tested.points)
    places = [place for place, point in enumerate(tested.points) if tested.metric == LOSS or point.accuracy is not None]
    for place, value in zip(places, tested.bounds.smoothed, strict=False):
        found[place] = sign * value
    return found


def report(tested: Tested, script: str, *, page: bool = False) -> Report:
    """The curve, what is in it, and how it came about; a page has every single value too."""
    blocks: list[Block] = []
    if tested.points:
        blocks.append(_curve(tested, page=page))
    if tested.bounds.suggestion is not None:
        blocks.append(_table(tested))
    blocks += [Text(note) for note in notes(tested)]
    return Report(message("tune_lr.title", script=script), conclusion(tested), [finding(tested)], blocks)


def _curve(tested: Tested, *, page: bool) -> Curves:
    seen = [(place, one) for place, one in enumerate(_smoothed(tested)) if one is not None]
    shown = _shown(tested, seen)
    curves = [Curve(_name(tested, smoothed=True), [place for place, _ in shown], [value for _, value in shown])]
    if page or not shown:
        last = shown[-1][0] if shown else len(tested.points)
        raw = [
            (place, value)
            for place, point in enumerate(tested.points[: last + 1])
            if (value := point.loss if tested.metric == LOSS else point.accuracy) is not None
        ]
        every = Curve(_name(tested, smoothed=False), [place for place, _ in raw], [value for _, value in raw])
        curves = [every, *curves] if shown else [every]
    axis = Axis("tune_lr.at_rate", {place: short(point.rate) for place, point in enumerate(tested.points)})
    return Curves(message("tune_lr.curve", what=what(tested)), curves, axis=axis, marks=list(_marks(tested)))


def _name(tested: Tested, *, smoothed: bool) -> str:
    return message("tune_lr.smoothed" if smoothed else "tune_lr.each", what=what(tested)).text()


def _shown(tested: Tested, seen: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """The curve up to where it is far above its beginning for good: the rest would flatten all that matters."""
    if tested.metric != LOSS or not tested.bounds.gained:
        return list(seen)
    most = tested.bounds.start + _SHOWN_RISE * (tested.bounds.start - tested.bounds.best)
    last = max(place for place, point in enumerate(tested.points) if point.loss <= most)
    return [one for one in seen if one[0] <= last + 1]


def _marks(tested: Tested) -> Iterator[Mark]:
    bounds = tested.bounds
    places: dict[int, list[Message]] = {}
    named = [("lower", bounds.lower), ("suggestion", bounds.suggestion), ("upper", bounds.upper), ("own", tested.own)]
    for name, rate in named:
        if rate is not None and tested.points[0].rate <= rate <= tested.points[-1].rate:
            nearest = min(range(len(tested.points)), key=lambda place: _apart(tested.points[place].rate, rate))
            places.setdefault(nearest, []).append(message(f"tune_lr.mark_{name}", rate=short(rate)))
    for place, said in places.items():
        yield Mark(place, said[0] if len(said) == 1 else message("tune_lr.mark_both", one=said[0], other=said[1]))


def _apart(one: float, other: float) -> float:
    return abs(math.log(one / other)) if one > 0 and other > 0 else abs(one - other)


def _table(tested: Tested) -> Table:
    """The suggestion for every group, in the ratio that the script has given them."""
    bounds = tested.bounds
    reference = max(tested.optimizers[0].rates, default=0.0)
    rows = []
    for number, optimizer in enumerate(tested.optimizers):
        for group, own in enumerate(optimizer.rates):
            factor = own / reference if reference > 0 else 1.0
            rates = [
                short(rate * factor) if rate is not None else None
                for rate in (bounds.lower, bounds.suggestion, bounds.upper)
            ]
            rows.append(
                [
                    f"{optimizer.kind} {number}" if len(tested.optimizers) > 1 else optimizer.kind,
                    group,
                    short(own),
                    *rates,
                ]
            )
    columns = ("optimizer", "group", "own", "lower", "suggestion", "upper")
    return Table(message("tune_lr.table"), [message(f"tune_lr.column_{name}") for name in columns], rows)


def notes(tested: Tested) -> Iterator[Message]:
    """What a reader must know of how the curve came about."""
    if tested.interrupted:
        yield message("tune_lr.note_interrupted", rate=short(tested.points[-1].rate) if tested.points else tested.low)
    elif tested.diverged:
        yield message("tune_lr.note_diverged", rate=short(tested.points[-1].rate))
    if tested.failed is not None:
        yield message("tune_lr.note_failed", line=tested.failed)
    if tested.shorter_than is not None:
        yield message("tune_lr.note_shorter", updates=tested.updates, wished=tested.shorter_than)
    if len(tested.optimizers) > 1:
        yield message("tune_lr.note_optimizers", count=len(tested.optimizers))
    if tested.losses_each > 1:
        yield message("tune_lr.note_losses", count=tested.losses_each)
