"""Curves out of events: loss, learning rate, gradient norm, loss scale and seconds per step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

from trueline.formats.run_folder.events_reader import EventLog
from trueline.formats.run_folder.guard import bad
from trueline.model.curve import Curve
from trueline.model.numbers import decode
from trueline.model.run import EventName

Point = tuple[int, float]
MOST_LOSSES: Final = 32


def read_curve(log: EventLog, name: str, phase: str) -> Curve:
    """One scalar over a phase's finished steps; a ValueError for a name that is none of CURVES."""
    if name not in CURVES:
        raise ValueError(f"no such curve: {name!r} (expected {', '.join(CURVES)})")
    try:
        points = CURVES[name](log, phase)
    except (ValueError, TypeError, KeyError) as error:
        raise bad(log.path, "bad_event", event=name, reason=str(error)[:200]) from None
    return _curve(name, points)


def _curve(name: str, points: dict[int, float]) -> Curve:
    steps = sorted(points)
    return Curve(name, steps, [points[step] for step in steps])


def read_losses(log: EventLog, phase: str) -> list[Curve]:
    """The losses of a phase's steps by their place in the step; past MOST_LOSSES the worst of the others as one."""
    places: list[dict[int, float]] = []
    counts: dict[int, int] = {}
    try:
        for event in log.events(EventName.LOSS, phase):
            step, value = event["step"], decode(event["value"])
            place = min(counts.get(step, 0), MOST_LOSSES)
            counts[step] = counts.get(step, 0) + 1
            if place == len(places):
                places.append({})
            # What is not finite is not to be hidden by what comes after it.
            if math.isfinite(places[place].get(step, 0.0)):
                places[place][step] = value
    except (ValueError, TypeError, KeyError) as error:
        raise bad(log.path, "bad_event", event="loss", reason=str(error)[:200]) from None
    names = ["loss", *(f"loss {place + 1}" for place in range(1, min(len(places), MOST_LOSSES)))]
    return [_curve(name, one) for name, one in zip([*names, "loss …"], places, strict=False)]


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
    """What the first optimizer got; where there is none, what a step's last pass has left."""
    updates = list(_first_optimizer(log, phase)) or log.events(EventName.BACKWARD, phase)
    return {event["step"]: decode(event["grad_norm"]) for event in updates if event.get("grad_norm") is not None}


def _grad_norm_unclipped(log: EventLog, phase: str) -> dict[int, float]:
    """The norm that the first optimizer's gradients had when they were clipped; of several parts that of all.

    What is clipped in another way after it, by norm after by value, was clipped already.
    """
    points: dict[int, float] = {}
    first = min((event.get("optimizer") or 0 for event in log.events(EventName.STEP, phase)), default=0)
    norms: dict[int, tuple[Any, float]] = {}
    for event in log.events((EventName.CLIP, EventName.STEP), phase):
        step = event["step"]
        if event["event"] == EventName.CLIP:
            kind, before = norms.get(step, (event.get("kind"), 0.0))
            if event.get("norm") is not None and event.get("kind") == kind:
                norms[step] = kind, math.hypot(before, decode(event["norm"]))
        elif step in norms:
            # Those of another optimizer, as in a GAN, are not the first one's.
            _, clipped = norms.pop(step)
            if (event.get("optimizer") or 0) == first:
                points[step] = clipped
    return points


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
    "grad_norm_unclipped": _grad_norm_unclipped,
    "grad_norm": _grad_norm,
    "scale": _scale,
    "seconds": _seconds,
}
