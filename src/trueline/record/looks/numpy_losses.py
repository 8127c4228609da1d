"""The usual loss functions in NumPy, in double precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

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


def recomputed(name: str, prediction: Array, target: Array, settings: Mapping[str, Any]) -> float | None:
    """The loss of this name; None where it cannot be said."""
    reduction = settings.get("reduction", "mean")
    known = _LOSSES.get(name)
    if known is None or reduction not in ("mean", "sum"):
        return None
    if settings.get("size_average") is not None or settings.get("reduce") is not None:
        return None
    found = known(prediction, target, settings)
    if found is None:
        return None
    losses, weights = found
    total = float(losses.sum())
    if reduction == "sum":
        return total
    share = float(weights.sum())
    return total / share if share else None


Parts = tuple[Array, Array] | None


def _cross_entropy(prediction: Array, target: Array, settings: Mapping[str, Any]) -> Parts:
    if prediction.ndim < 2:
        return None
    return _of_classes(log_softmax(class_rows(prediction)), prediction, target, settings)


def _nll(prediction: Array, target: Array, settings: Mapping[str, Any]) -> Parts:
    if prediction.ndim < 2:
        return None
    return _of_classes(class_rows(prediction), prediction, target, settings)


def _of_classes(logs: Array, prediction: Array, target: Array, settings: Mapping[str, Any]) -> Parts:
    smoothing = float(settings.get("label_smoothing") or 0.0)
    weight = settings.get("weight")
    weight = np.ones(logs.shape[1]) if weight is None else np.asarray(weight, np.float64)
    if target.shape == prediction.shape:
        shares = class_rows(target.astype(np.float64))
        shares = shares * (1 - smoothing) + smoothing / logs.shape[1]
        return -(logs * shares * weight).sum(1), np.ones(len(logs))
    labels = target.reshape(-1)
    if len(labels) != len(logs) or labels.dtype.kind not in "iu":
        return None
    kept = labels != int(settings.get("ignore_index", -100))
    labels, logs = labels[kept], logs[kept]
    if not len(labels) or labels.min() < 0 or labels.max() >= logs.shape[1]:
        return None
    picked = logs[np.arange(len(labels)), labels]
    each = -picked * weight[labels] * (1 - smoothing) - smoothing / logs.shape[1] * (logs * weight).sum(1)
    return each, weight[labels]


def _binary(prediction: Array, target: Array, settings: Mapping[str, Any]) -> Parts:
    if prediction.shape != target.shape:
        return None
    wanted = target.astype(np.float64)
    weight = settings.get("weight")
    low = -100.0
    losses = -(wanted * np.maximum(np.log(prediction), low) + (1 - wanted) * np.maximum(np.log1p(-prediction), low))
    return losses * (1.0 if weight is None else weight), np.ones(prediction.size)


def _binary_logits(prediction: Array, target: Array, settings: Mapping[str, Any]) -> Parts:
    if prediction.shape != target.shape:
        return None
    wanted = target.astype(np.float64)
    positive, weight = settings.get("pos_weight"), settings.get("weight")
    positive = 1.0 if positive is None else positive
    each = positive * wanted * np.logaddexp(0, -prediction) + (1 - wanted) * np.logaddexp(0, prediction)
    return each * (1.0 if weight is None else weight), np.ones(prediction.size)


def _by_difference(of: Callable[[Array, Mapping[str, Any]], Array]) -> Callable[..., Parts]:
    def loss(prediction: Array, target: Array, settings: Mapping[str, Any]) -> Parts:
        if settings.get("weight") is not None or prediction.shape != target.shape:
            return None
        apart = np.abs(prediction - target.astype(np.float64))
        return of(apart, settings), np.ones(apart.size)

    return loss


def _smooth(apart: Array, settings: Mapping[str, Any]) -> Array:
    beta = float(settings.get("beta", 1.0))
    return np.where(apart < beta, 0.5 * apart**2 / beta, apart - 0.5 * beta) if beta else apart


def _huber(apart: Array, settings: Mapping[str, Any]) -> Array:
    delta = float(settings.get("delta", 1.0))
    return np.where(apart <= delta, 0.5 * apart**2, delta * (apart - 0.5 * delta))


_LOSSES: Final[Mapping[str, Callable[[Array, Array, Mapping[str, Any]], Parts]]] = {
    "cross_entropy": _cross_entropy,
    "nll_loss": _nll,
    "binary_cross_entropy": _binary,
    "binary_cross_entropy_with_logits": _binary_logits,
    "mse_loss": _by_difference(lambda apart, _: apart**2),
    "l1_loss": _by_difference(lambda apart, _: apart),
    "smooth_l1_loss": _by_difference(_smooth),
    "huber_loss": _by_difference(_huber),
}
