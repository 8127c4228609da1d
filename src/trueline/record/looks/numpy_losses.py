"""The usual loss functions in NumPy, in double precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Self

import numpy as np

from trueline.adapters.nouns import Value
from trueline.kernel.array import Array


def class_rows(scores: Array) -> Array:
    """Scores (N, C, …) as rows of C."""
    if scores.ndim == 2:
        return scores
    return np.moveaxis(scores, 1, -1).reshape(-1, scores.shape[1])


def log_softmax(rows: Array) -> Array:
    """Row by row."""
    shifted = rows - rows.max(1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(1, keepdims=True)))


@dataclass(frozen=True, slots=True)
class LossSettings:
    """What a loss function is called with besides prediction and target."""

    reduction: object = "mean"
    weight: Array | None = None
    pos_weight: Array | None = None
    label_smoothing: float | None = None
    ignore_index: int = -100
    beta: float = 1.0
    delta: float = 1.0
    size_average: bool | None = None
    reduce: bool | None = None

    @classmethod
    def of(cls, settings: Mapping[str, Value]) -> Self:
        """Those of a call that matter here."""
        return cls(**{name: settings[name] for name in cls.__slots__ if name in settings})


def recomputed(name: str, prediction: Array, target: Array, settings: LossSettings) -> float | None:
    """The loss of this name; None where it cannot be said."""
    known = _LOSSES.get(name)
    if known is None or settings.reduction not in ("mean", "sum"):
        return None
    if settings.size_average is not None or settings.reduce is not None:
        return None
    found = known(prediction, target, settings)
    if found is None:
        return None
    losses, weights = found
    total = float(losses.sum())
    if settings.reduction == "sum":
        return total
    share = float(weights.sum())
    return total / share if share else None


Parts = tuple[Array, Array] | None


def _cross_entropy(prediction: Array, target: Array, settings: LossSettings) -> Parts:
    if prediction.ndim < 2:
        return None
    return _of_classes(log_softmax(class_rows(prediction)), prediction, target, settings)


def _nll(prediction: Array, target: Array, settings: LossSettings) -> Parts:
    if prediction.ndim < 2:
        return None
    return _of_classes(class_rows(prediction), prediction, target, settings)


def _of_classes(logs: Array, prediction: Array, target: Array, settings: LossSettings) -> Parts:
    smoothing = settings.label_smoothing or 0.0
    weight = np.ones(logs.shape[1]) if settings.weight is None else np.asarray(settings.weight, np.float64)
    if target.shape == prediction.shape:
        shares = class_rows(target.astype(np.float64))
        shares = shares * (1 - smoothing) + smoothing / logs.shape[1]
        return -(logs * shares * weight).sum(1), np.ones(len(logs))
    labels = target.reshape(-1)
    if len(labels) != len(logs) or labels.dtype.kind not in "iu":
        return None
    kept = labels != settings.ignore_index
    labels, logs = labels[kept], logs[kept]
    if not len(labels) or labels.min() < 0 or labels.max() >= logs.shape[1]:
        return None
    picked = logs[np.arange(len(labels)), labels]
    losses = -picked * weight[labels] * (1 - smoothing) - smoothing / logs.shape[1] * (logs * weight).sum(1)
    return losses, weight[labels]


def _binary(prediction: Array, target: Array, settings: LossSettings) -> Parts:
    if prediction.shape != target.shape:
        return None
    wanted = target.astype(np.float64)
    weight = settings.weight
    low = -100.0
    losses = -(wanted * np.maximum(np.log(prediction), low) + (1 - wanted) * np.maximum(np.log1p(-prediction), low))
    return losses * (1.0 if weight is None else weight), np.ones(prediction.size)


def _binary_logits(prediction: Array, target: Array, settings: LossSettings) -> Parts:
    if prediction.shape != target.shape:
        return None
    wanted = target.astype(np.float64)
    positive, weight = 1.0 if settings.pos_weight is None else settings.pos_weight, settings.weight
    losses = positive * wanted * np.logaddexp(0, -prediction) + (1 - wanted) * np.logaddexp(0, prediction)
    return losses * (1.0 if weight is None else weight), np.ones(prediction.size)


def _by_difference(of: Callable[[Array, LossSettings], Array]) -> Callable[..., Parts]:
    def loss(prediction: Array, target: Array, settings: LossSettings) -> Parts:
        if settings.weight is not None or prediction.shape != target.shape:
            return None
        apart = np.abs(prediction - target.astype(np.float64))
        return of(apart, settings), np.ones(apart.size)

    return loss


def _smooth(apart: Array, settings: LossSettings) -> Array:
    beta = settings.beta
    return np.where(apart < beta, 0.5 * apart**2 / beta, apart - 0.5 * beta) if beta else apart


def _huber(apart: Array, settings: LossSettings) -> Array:
    delta = settings.delta
    return np.where(apart <= delta, 0.5 * apart**2, delta * (apart - 0.5 * delta))


_LOSSES: Final[Mapping[str, Callable[[Array, Array, LossSettings], Parts]]] = {
    "cross_entropy": _cross_entropy,
    "nll_loss": _nll,
    "binary_cross_entropy": _binary,
    "binary_cross_entropy_with_logits": _binary_logits,
    "mse_loss": _by_difference(lambda apart, _: apart**2),
    "l1_loss": _by_difference(lambda apart, _: apart),
    "smooth_l1_loss": _by_difference(_smooth),
    "huber_loss": _by_difference(_huber),
}
