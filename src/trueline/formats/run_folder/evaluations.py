"""Evaluations out of events: the evaluation steps between two training steps, taken together."""

from __future__ import annotations

from trueline.formats.run_folder.reader import RankFolder
from trueline.model.curve import Curve
from trueline.model.events import BatchEvent, EndEvent, LossEvent
from trueline.model.key import Phase

NAME = "val_loss"


class _Mean:
    """The mean loss over the batches of one loader, weighted by their sizes."""

    def __init__(self) -> None:
        self._sum = 0.0
        self._weight = 0

    def add(self, loss: float, size: int) -> None:
        self._sum += loss * size
        self._weight += size

    @property
    def value(self) -> float:
        return self._sum / self._weight


def evaluation_curves(rank: RankFolder) -> list[Curve]:
    """The mean loss of every evaluation by the number of training steps before it: a curve for each loader.

    The one with the most evaluations, on a tie the first, is called ``val_loss``, others ``val_loss_2`` and so on.
    Evaluations before the first training step count as well.
    """
    ordered = sorted(_evaluations(rank).values(), key=lambda points: -len(points))
    return [
        Curve(NAME if not place else f"{NAME}_{place + 1}", list(points), [mean.value for mean in points.values()])
        for place, points in enumerate(ordered)
    ]


def evaluations_seen(rank: RankFolder) -> bool:
    """Whether there is any evaluation step, with or without a loss."""
    return any(True for _ in rank.events(EndEvent, phase=Phase.EVAL.value))


def _evaluations(rank: RankFolder) -> dict[int | None, dict[int, _Mean]]:
    """By loader and by training steps; a step counts with its first batch and its first loss."""
    evaluations: dict[int | None, dict[int, _Mean]] = {}
    trained = 0
    batch: BatchEvent | None = None
    loss: LossEvent | None = None
    for event in rank.events(BatchEvent, LossEvent, EndEvent):
        if event.phase == Phase.TRAIN:
            trained += isinstance(event, EndEvent)
        elif isinstance(event, BatchEvent):
            batch = batch or event
        elif isinstance(event, LossEvent):
            loss = loss or event
        else:
            if loss is not None:
                points = evaluations.setdefault(batch.loader if batch is not None else None, {})
                points.setdefault(trained, _Mean()).add(loss.value, max(batch.size, 1) if batch is not None else 1)
            batch = loss = None
    return evaluations
