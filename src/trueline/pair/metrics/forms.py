"""The common metrics, computed with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from trueline.kernel.array import Array

_CLOSE: Final = 1e-5
_SCALES: Final = (1.0, 100.0)


@dataclass(frozen=True, slots=True)
class MetricForm:
    """A common metric by name, its scale, and whether several batches are put together or their results averaged."""

    name: str
    scale: float = 1.0
    by_batch: bool = False


Batch = tuple[Array, Array]


def fit_metric(cases: Sequence[Sequence[Batch]], values: Sequence[float]) -> MetricForm | None:
    """The metric that gives these values for these cases; None where no common one does."""
    for name in _forms(*cases[0][0]):
        for scale in _SCALES:
            for by_batch in (False, True):
                form = MetricForm(name, scale, by_batch)
                found = [_value(form, case) for case in cases]
                if np.allclose(found, values, rtol=_CLOSE, atol=_CLOSE * scale):
                    return form
    return None


def _value(form: MetricForm, batches: Sequence[Batch]) -> float:
    if form.by_batch:
        each = [_forms(*batch)[form.name]() for batch in batches]
        return form.scale * float(np.mean(each))
    together = (np.concatenate([batch[0] for batch in batches]), np.concatenate([batch[1] for batch in batches]))
    return form.scale * float(_forms(*together)[form.name]())


def _forms(predictions: Array, labels: Array) -> dict[str, Callable[[], float]]:
    if labels.dtype.kind == "f":
        return _distances(predictions.astype(np.float64), labels.astype(np.float64))
    if predictions.dtype.kind in "iu":
        return _of_classes(predictions, labels, int(max(predictions.max(), labels.max())) + 1)
    classes = predictions.shape[1]
    chosen = predictions.argmax(1)
    found = _of_classes(chosen, labels, classes)
    for k in range(2, min(classes, 6)):
        found[f"top_{k}"] = partial(_top, predictions, labels, k)
    found["argmin"] = lambda: (predictions.argmin(1) == labels).mean()
    return found


def _distances(predictions: Array, labels: Array) -> dict[str, Callable[[], float]]:
    apart = predictions - labels
    return {
        "mean_squared": lambda: (apart**2).mean(),
        "root_mean_squared": lambda: np.sqrt((apart**2).mean()),
        "mean_absolute": lambda: np.abs(apart).mean(),
        "squared_by_sample": lambda: (apart**2).sum() / len(apart),
        "absolute_by_sample": lambda: np.abs(apart).sum() / len(apart),
        "sum_squared": lambda: (apart**2).sum(),
        "sum_absolute": lambda: np.abs(apart).sum(),
    }


def _of_classes(chosen: Array, labels: Array, classes: int) -> dict[str, Callable[[], float]]:
    table = np.zeros((classes, classes))
    np.add.at(table, (labels.reshape(-1), chosen.reshape(-1)), 1)
    right, real, guessed = np.diag(table), table.sum(1), table.sum(0)
    seen, named = real > 0, (real + guessed) > 0

    def share(of: Array, by: Array) -> Array:
        return np.divide(of, by, out=np.zeros_like(of), where=by > 0)

    f1, overlap = share(2 * right, real + guessed), share(right, real + guessed - right)
    recall, precision = share(right, real), share(right, guessed)
    return {
        "accuracy": lambda: right.sum() / table.sum(),
        "error": lambda: 1 - right.sum() / table.sum(),
        "count": lambda: right.sum(),
        "macro_recall": lambda: recall[seen].mean(),
        "macro_recall_all": lambda: recall.mean(),
        "macro_precision": lambda: precision[named].mean(),
        "macro_precision_all": lambda: precision.mean(),
        "macro_f1": lambda: f1[named].mean(),
        "macro_f1_all": lambda: f1.mean(),
        "weighted_f1": lambda: (f1 * real).sum() / real.sum(),
        "mean_overlap": lambda: overlap[named].mean(),
        "mean_overlap_all": lambda: overlap.mean(),
        "weighted_precision": lambda: (precision * real).sum() / real.sum(),
    }


def _top(predictions: Array, labels: Array, k: int) -> float:
    best = np.argsort(-predictions, axis=1, kind="stable")[:, :k]
    return float((best == np.expand_dims(labels, 1)).any(1).mean())
