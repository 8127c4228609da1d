"""Which of several curves is the training loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from trueline.formats.log.names import EVALUATION, words
from trueline.model.curve import Curve

_WHOLE: Final = frozenset(
    {"loss", "losses", "train", "training", "total", "all", "sum", "scalar", "lm", "model", "main"}
)
_SMOOTHED: Final = frozenset({"avg", "average", "mean", "running", "smooth", "smoothed", "ema", "epoch"})
_FINE: Final = frozenset({"step", "iter", "iteration", "batch"})
_NONE: Final = frozenset({"scale", "scaler", "weight", "weights", "lr", "rate", "min", "max", "std", "best"})


def loss_of(curves: Sequence[Curve]) -> Curve | None:
    """The training loss: the whole before its parts, each step's before a mean, an evaluation's for want of any."""
    ranked = [
        (rank, -len(curve), place) for place, curve in enumerate(curves) if (rank := _rank(curve.name)) is not None
    ]
    return curves[min(ranked)[2]] if ranked else None


def _rank(name: str) -> tuple[int, ...] | None:
    """Smaller is better; None for what is no loss."""
    found = words(name)
    if not any(word.startswith("loss") or word.endswith("loss") for word in found) or not _NONE.isdisjoint(found):
        return None
    evaluation = any(word in EVALUATION for word in found)
    # A word such as trainloss says what train_loss says.
    parts = [part for word in found for part in (word.replace("loss", " loss ").split() if "loss" in word else [word])]
    unknown = sum(1 for part in parts if part not in _WHOLE | _FINE | _SMOOTHED and part not in EVALUATION)
    smoothed = any(part in _SMOOTHED for part in parts)
    return int(evaluation), unknown, int(smoothed), len(parts)
