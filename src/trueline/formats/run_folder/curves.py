"""Curves out of events: loss, learning rate, gradient norm, loss scale and seconds per step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Final

from trueline.formats.run_folder.events_reader import EventLog
from trueline.formats.run_folder.guard import bad
from trueline.model.curve import Curve
from trueline.model.events import BackwardEvent, ClipEvent, EndEvent, LossEvent, ScaleEvent, StepEvent
from trueline.model.numbers import decode

MAX_LOSS_CURVES: Final = 32  # losses of one step that have curves of their own


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
    """The losses of a phase's steps by their place in the step; past MAX_LOSS_CURVES the worst of the others as one."""
    places: list[dict[int, float]] = []
    counts: dict[int, int] = {}
    try:
        for event in log.events(LossEvent, phase=phase):
            step, value = event.step, event.value
            place = min(counts.get(step, 0), MAX_LOSS_CURVES)
            counts[step] = counts.get(step, 0) + 1
            if place == len(places):
                places.append({})
            # What is not finite is not to be hidden by what comes after it.
            if math.isfinite(places[place].get(step, 0.0)):
                places[place][step] = value
    except (ValueError, TypeError, KeyError) as error:
        raise bad(log.path, "bad_event", event="loss", reason=str(error)[:200]) from None
    names = ["loss", *(f"loss {place + 1}" for place in range(1, min(len(places), MAX_LOSS_CURVES)))]
    return [_curve(name, points) for name, points in zip([*names, "loss …"], places, strict=False)]


def _loss(log: EventLog, phase: str) -> dict[int, float]:
    """A step's first loss: a number that the script has, where a sum or a mean of several is none."""
    points: dict[int, float] = {}
    for event in log.events(LossEvent, phase=phase):
        points.setdefault(event.step, event.value)
    return points


def _first_optimizer(log: EventLog, phase: str) -> list[StepEvent]:
    steps = list(log.events(StepEvent, phase=phase))
    first = min((event.optimizer for event in steps), default=0)
    return [event for event in steps if event.optimizer == first]


def _lr(log: EventLog, phase: str) -> dict[int, float]:
    points: dict[int, float] = {}
    for event in _first_optimizer(log, phase):
        if event.lr:
            points.setdefault(event.step, decode(event.lr[0]))
    return points


def _grad_norm(log: EventLog, phase: str) -> dict[int, float]:
    """What the first optimizer got; where there is none, what a step's last pass has left."""
    updates: Iterable[StepEvent | BackwardEvent] = _first_optimizer(log, phase)
    updates = updates or log.events(BackwardEvent, phase=phase)
    return {event.step: event.grad_norm for event in updates if event.grad_norm is not None}


def _grad_norm_unclipped(log: EventLog, phase: str) -> dict[int, float]:
    """The norm that the first optimizer's gradients had when they were clipped; of several parts that of all.

    What is clipped in another way after it, by norm after by value, was clipped already.
    """
    points: dict[int, float] = {}
    first = min((event.optimizer for event in log.events(StepEvent, phase=phase)), default=0)
    norms: dict[int, tuple[str, float]] = {}
    for event in log.events(ClipEvent, StepEvent, phase=phase):
        step = event.step
        if isinstance(event, ClipEvent):
            kind, before = norms.get(step, (event.kind, 0.0))
            if event.norm is not None and event.kind == kind:
                norms[step] = kind, math.hypot(before, event.norm)
        elif isinstance(event, StepEvent) and step in norms:
            # Those of another optimizer, as in a GAN, are not the first one's.
            _, clipped = norms.pop(step)
            if event.optimizer == first:
                points[step] = clipped
    return points


def _scale(log: EventLog, phase: str) -> dict[int, float]:
    return {event.step: event.value for event in log.events(ScaleEvent, phase=phase)}


def _seconds(log: EventLog, phase: str) -> dict[int, float]:
    return {event.step: event.seconds for event in log.events(EndEvent, phase=phase) if event.seconds is not None}


CURVES: Final[dict[str, Callable[[EventLog, str], dict[int, float]]]] = {
    "loss": _loss,
    "lr": _lr,
    "grad_norm_unclipped": _grad_norm_unclipped,
    "grad_norm": _grad_norm,
    "scale": _scale,
    "seconds": _seconds,
}
