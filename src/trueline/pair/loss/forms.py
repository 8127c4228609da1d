"""The common losses, computed with NumPy in float64: value and gradient at the outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

Wide = npt.NDArray[np.float64]


class Family(StrEnum):
    """What is computed of one row (of classes) or of one element."""

    CROSS_ENTROPY = "cross_entropy"
    SOFTMAX_TWICE = "softmax_twice"
    NLL = "nll"
    BCE_LOGITS = "bce_logits"
    SIGMOID_TWICE = "sigmoid_twice"
    BCE = "bce"
    MSE = "mse"
    L1 = "l1"
    SMOOTH_L1 = "smooth_l1"
    KL = "kl"


ROW_FAMILIES: Final = (Family.CROSS_ENTROPY, Family.SOFTMAX_TWICE, Family.NLL)


class Reduction(StrEnum):
    """What the terms are divided by: their weights, their number, the batch's size, rows times classes, nothing."""

    MEAN = "mean"
    MEAN_ALL = "mean_all"
    BATCH_MEAN = "batch_mean"
    ELEMENT_MEAN = "element_mean"
    SUM = "sum"
    NONE = "none"


class Over(StrEnum):
    """Which classes share the mass that smoothing takes from the label's."""

    ALL = "all"
    OTHERS = "others"


@dataclass(frozen=True, slots=True)
class LossForm:
    """A common loss with its settings.

    ``weights`` are relative ones by class; ``ignored`` are the labels whose rows do not count. ``bounds`` of an
    elementwise loss are what the labels 0 and 1 are replaced by, ``positive`` the weight of labels that are 1.
    """

    family: Family
    reduction: Reduction = Reduction.MEAN
    smoothing: float = 0.0
    over: Over = Over.ALL
    weights: tuple[tuple[int, float], ...] = ()
    ignored: tuple[int, ...] = ()
    beta: float = 1.0
    positive: float = 1.0
    bounds: tuple[float, float] = (0.0, 1.0)
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Rows:
    """Outputs as rows of classes with the label of each row (-1 and such are kept), or as they are, with targets.

    ``batch`` is how many samples there are.
    """

    values: Wide
    targets: Wide
    labels: npt.NDArray[np.int64]
    batch: int


def softmax(values: Wide) -> Wide:
    """Along the last axis."""
    moved = np.exp(values - values.max(-1, keepdims=True))
    found: Wide = moved / moved.sum(-1, keepdims=True)
    return found


def sigmoid(values: Wide) -> Wide:
    """Of each element."""
    found: Wide = 0.5 * (1.0 + np.tanh(0.5 * values))
    return found


def log_softmax(values: Wide) -> Wide:
    """Along the last axis."""
    moved = values - values.max(-1, keepdims=True)
    found: Wide = moved - np.log(np.exp(moved).sum(-1, keepdims=True))
    return found


def through_softmax(gradient: Wide, probabilities: Wide) -> Wide:
    """A gradient at softmax's output brought back to its input."""
    found: Wide = probabilities * (gradient - (gradient * probabilities).sum(-1, keepdims=True))
    return found


def smoothed(form: LossForm, one_hot: Wide) -> Wide:
    """The targets of a row loss."""
    classes = one_hot.shape[-1]
    if form.over is Over.ALL or classes < 2:
        return (1.0 - form.smoothing) * one_hot + form.smoothing / classes
    return (1.0 - form.smoothing) * one_hot + form.smoothing / (classes - 1) * (1.0 - one_hot)


def evaluate(form: LossForm, rows: Rows) -> tuple[Wide, Wide]:
    """The loss's value (one per row or element where nothing is reduced) and its gradient, in the rows' shape."""
    with np.errstate(all="ignore"):
        terms, slopes = _row_terms(form, rows) if form.family in ROW_FAMILIES else _element_terms(form, rows)
    weight = row_weights(form, rows) if form.family in ROW_FAMILIES else np.ones(terms.shape)
    terms = np.where(weight != 0, terms, 0.0) * weight
    slopes = slopes * (weight[:, None] if form.family in ROW_FAMILIES else weight)
    by = form.factor / (divisor(form, rows, float(weight.sum())) or np.nan)
    value = terms * by if form.reduction is Reduction.NONE else np.asarray(terms.sum() * by)
    return value, slopes * by


def divisor(form: LossForm, rows: Rows, weight: float) -> float:
    """What the sum of the terms is divided by."""
    count = len(rows.values) if form.family in ROW_FAMILIES else rows.values.size
    return {
        Reduction.MEAN: weight,
        Reduction.MEAN_ALL: float(count),
        Reduction.BATCH_MEAN: float(rows.batch),
        Reduction.ELEMENT_MEAN: float(rows.values.size),
        Reduction.SUM: 1.0,
        Reduction.NONE: 1.0,
    }[form.reduction]


def row_weights(form: LossForm, rows: Rows) -> Wide:
    """The weight of each row by its label."""
    found = np.ones(len(rows.labels))
    for label, weight in form.weights:
        found[rows.labels == label] = weight
    found[np.isin(rows.labels, form.ignored)] = 0.0
    return found


def _row_terms(form: LossForm, rows: Rows) -> tuple[Wide, Wide]:
    target = smoothed(form, rows.targets)
    if form.family is Family.NLL:
        return -(target * rows.values).sum(-1), -target
    inner = softmax(rows.values) if form.family is Family.SOFTMAX_TWICE else rows.values
    slopes = softmax(inner) - target
    if form.family is Family.SOFTMAX_TWICE:
        slopes = through_softmax(slopes, inner)
    return -(target * log_softmax(inner)).sum(-1), slopes


def _element_terms(form: LossForm, rows: Rows) -> tuple[Wide, Wide]:
    low, high = form.bounds
    target = low + (high - low) * rows.targets
    terms, slopes = _ELEMENTS[form.family](rows.values, target, form)
    return np.asarray(terms), np.asarray(slopes)


def _bce_logits(x: Wide, t: Wide, form: LossForm) -> tuple[Wide, Wide]:
    probability = sigmoid(x)
    on, off = np.logaddexp(0.0, -x), np.logaddexp(0.0, x)
    up = form.positive * t
    return up * on + (1 - t) * off, (up + 1 - t) * probability - up


def _sigmoid_twice(x: Wide, t: Wide, form: LossForm) -> tuple[Wide, Wide]:
    inner = sigmoid(x)
    terms, slopes = _bce_logits(inner, t, form)
    return terms, slopes * inner * (1 - inner)


def _bce(x: Wide, t: Wide, form: LossForm) -> tuple[Wide, Wide]:
    up = form.positive * t
    terms = -(up * np.maximum(np.log(x), -100.0) + (1 - t) * np.maximum(np.log1p(-x), -100.0))
    return terms, (1 - t) / (1 - x) - up / x


def _mse(x: Wide, t: Wide, _: LossForm) -> tuple[Wide, Wide]:
    return (x - t) ** 2, 2 * (x - t)


def _l1(x: Wide, t: Wide, _: LossForm) -> tuple[Wide, Wide]:
    return np.abs(x - t), np.sign(x - t)


def _smooth_l1(x: Wide, t: Wide, form: LossForm) -> tuple[Wide, Wide]:
    apart, beta = x - t, form.beta
    near = np.abs(apart) < beta
    terms = np.where(near, 0.5 * apart**2 / beta, np.abs(apart) - 0.5 * beta)
    return terms, np.where(near, apart / beta, np.sign(apart))


def _kl(x: Wide, t: Wide, _: LossForm) -> tuple[Wide, Wide]:
    return np.where(t > 0, t * (np.log(np.where(t > 0, t, 1.0)) - x), 0.0), -t


_ELEMENTS: Final[dict[Family, Callable[[Wide, Wide, LossForm], tuple[Wide, Wide]]]] = {
    Family.BCE_LOGITS: _bce_logits,
    Family.SIGMOID_TWICE: _sigmoid_twice,
    Family.BCE: _bce,
    Family.MSE: _mse,
    Family.L1: _l1,
    Family.SMOOTH_L1: _smooth_l1,
    Family.KL: _kl,
}
