"""Curves out of events: loss, learning rate, gradient norm, loss scale and seconds per step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from trueline.formats.run_folder.events_reader import EventLog
from trueline.formats.run_folder.guard import bad
from trueline.model.curve import Curve
from trueline.model.numbers import decode
from trueline.model.run import EventName

Point = tuple[int, float]


def read_curve(log: EventLog, name: str, phase: str) -> Curve:
    """One scalar over a phase's finished steps; a ValueError for a name that is none of CURVES."""
    if name not in CURVES:
        raise ValueError(f"no such curve: {name!r} (expected {', '.join(CURVES)})")
    try:
        points = CURVES[name](log, phase)
    except (ValueError, TypeError, KeyError) as error:
        raise bad(log.path, "bad_event", event=name, reason=str(error)[:200]) from None
    steps = sorted(points)
    return Curve(name, steps, [points[step] for step in steps])


def _loss(log: EventLog, phase: str) -> dict[int, float]:
    """A step's first loss: a number that the script has, where a sum or a mean of several is none."""
    points: dict[int, float] = {}
    for event in log.events(EventName.LOSS, phase):
        points.setdefault(event["step"], decode(event["value"]))
    return points


def _first_optimizer(log: EventLog, phase: str) -> Iterator[dict[str, Any]]:
    steps = list(log.events(EventName.STEP, phase))
    if steps:
        first = min(event.get("optimizer") or 0 for event in steps)
        yield from (event for event in steps if (event.get("optimizer") or 0) == first)


def _lr(log: EventLog, phase: str) -> dict[int, float]:
    points: dict[int, float] = {}
    for event in _first_optimizer(log, phase):
        if event.get("lr"):
            points.setdefault(event["step"], decode(event["lr"][0]))
    return points


def _grad_norm(log: EventLog, phase: str) -> dict[int, float]:
    return {
        event["step"]: decode(event["grad_norm"])
        for event in _first_optimizer(log, phase)
        if event.get("grad_norm") is not None
    }


def _scale(log: EventLog, phase: str) -> dict[int, float]:
    return {event["step"]: decode(event["value"]) for event in log.events(EventName.SCALE, phase)}


def _seconds(log: EventLog, phase: str) -> dict[int, float]:
    return {
        event["step"]: decode(event["seconds"])
        for event in log.events(EventName.END, phase)
        if event.get("seconds") is not None
    }


CURVES: Final[dict[str, Callable[[EventLog, str], dict[int, float]]]] = {
    "loss": _loss,
    "lr": _lr,
    "grad_norm": _grad_norm,
    "scale": _scale,
    "seconds": _seconds,
}
