"""Evaluations out of events: the evaluation steps between two training steps, taken together."""

from __future__ import annotations

from typing import Any

from trueline.formats.run_folder.guard import bad
from trueline.formats.run_folder.layout import EVENTS
from trueline.formats.run_folder.reader import RankFolder
from trueline.model.curve import Curve
from trueline.model.key import Phase
from trueline.model.numbers import decode
from trueline.model.run import EventName

NAME = "val_loss"


class _Evaluation:
    """Losses over the batches of one loader, weighted by their sizes."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._weight = 0

    def add(self, loss: float, size: int) -> None:
        self._sum += loss * size
        self._weight += size

    @property
    def mean(self) -> float:
        return self._sum / self._weight


def evaluation_curves(rank: RankFolder) -> list[Curve]:
    """The mean loss of every evaluation by the number of training steps before it: a curve for each loader.

    The one with the most evaluations, on a tie the first, is called ``val_loss``, others ``val_loss_2`` and so on.
    Evaluations before the first training step count as well.
    """
    try:
        found = _found(rank)
    except (ValueError, TypeError, KeyError) as error:
        raise bad(rank.path / EVENTS, "bad_event", event="loss", reason=str(error)[:200]) from None
    ordered = sorted(found.values(), key=lambda points: -len(points))
    return [
        Curve(NAME if not place else f"{NAME}_{place + 1}", list(points), [one.mean for one in points.values()])
        for place, points in enumerate(ordered)
    ]


def evaluations_seen(rank: RankFolder) -> bool:
    """Whether there is any evaluation step, with or without a loss."""
    return any(True for _ in rank.events(EventName.END, phase=Phase.EVAL.value))


def _found(rank: RankFolder) -> dict[int | None, dict[int, _Evaluation]]:
    """By loader and by training steps."""
    found: dict[int | None, dict[int, _Evaluation]] = {}
    trained = 0
    step: dict[str, Any] = {}
    for event in rank.events():
        if event["phase"] == Phase.TRAIN:
            trained += event["event"] == EventName.END
            continue
        if event["event"] == EventName.BATCH:
            step.setdefault("loader", event.get("loader"))
            step.setdefault("size", max(int(event["samples"]["size"]), 1))
        elif event["event"] == EventName.LOSS:
            step.setdefault("loss", decode(event["value"]))
        elif event["event"] == EventName.END:
            if "loss" in step:
                points = found.setdefault(step.get("loader"), {})
                points.setdefault(trained, _Evaluation()).add(step["loss"], step.get("size", 1))
            step = {}
    return found
