"""Which common loss a side's loss is, told from its values and gradients alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from trueline.pair.loss.forms import (
    ROW_FAMILIES,
    Family,
    LossForm,
    Over,
    Reduction,
    Rows,
    Wide,
    divisor,
    evaluate,
    row_weights,
    sigmoid,
    softmax,
    through_softmax,
)

# Two computations of one loss in float32 lie this close, relative to their largest number; settings are told as finely.
CLOSE: Final = 1e-4
_SHORT: Final = 2e-5
_REDUCTIONS: Final = (
    Reduction.MEAN,
    Reduction.SUM,
    Reduction.ELEMENT_MEAN,
    Reduction.BATCH_MEAN,
    Reduction.MEAN_ALL,
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A loss on one case: its value, and its gradient in the rows' shape."""

    rows: Rows
    value: Wide
    gradient: Wide


def fit(
    seen: Sequence[Seen], known: Collection[float] = (), ignoring: Sequence[tuple[int, Seen]] = ()
) -> LossForm | None:
    """The form that gives all that was seen; None where no common one does.

    The settings are read off the first case, whose targets are one-hot; ``known`` are numbers that the loss was
    built with, which decide where two settings give the same. ``ignoring`` are cases with a label that may not count.
    """
    forms = [form for form in _candidates(seen[0]) if all(fits(form, one) for one in seen)]
    best = min(forms, key=lambda form: _strangeness(form, known), default=None)
    for label, look in ignoring if best is not None else ():
        assert best is not None
        tried = [replace(best, ignored=(*best.ignored, label), reduction=how) for how in _if_ignored(best.reduction)]
        best = next((form for form in tried if fits(form, look)), best)
    return best


def _if_ignored(reduction: Reduction) -> tuple[Reduction, ...]:
    """Where rows do not count, it matters whether a mean is one over the rows that do."""
    return (Reduction.MEAN, Reduction.MEAN_ALL) if reduction is Reduction.MEAN else (reduction,)


def fits(form: LossForm, seen: Seen) -> bool:
    """Whether a form gives a case's value and gradient, but for rounding."""
    value, gradient = evaluate(form, seen.rows)
    if value.size != seen.value.size:
        return False
    return _near(seen.value.reshape(-1), value.reshape(-1)) and _near(seen.gradient, gradient)


def _near(found: Wide, wanted: Wide) -> bool:
    scale = float(np.abs(wanted).max(initial=0.0))
    return bool(np.abs(found - wanted).max(initial=0.0) <= CLOSE * scale + 1e-30)


def _strangeness(form: LossForm, known: Collection[float]) -> tuple[int, ...]:
    settings = (form.smoothing, form.factor, form.beta, form.positive)
    unknown = form.smoothing != 0.0 and not any(abs(form.smoothing - number) < CLOSE for number in known)
    return (
        int(form.factor != 1.0),
        int(unknown),
        sum(len(f"{number:g}") for number in settings),
        list(Family).index(form.family),
        list(Reduction).index(form.reduction),
    )


def short(value: float) -> float:
    """The number with the fewest digits that lies as near as a fit can tell."""
    for digits in range(1, 5):
        rounded = float(f"{value:.{digits}g}")
        if abs(rounded - value) <= _SHORT * max(abs(value), 1e-3):
            return rounded
    return float(f"{value:.5g}")


def _candidates(first: Seen) -> Iterator[LossForm]:
    if first.rows.values.shape[-1] > 1 and first.rows.values.ndim == 2:
        for family in ROW_FAMILIES:
            yield from _row_candidates(family, first)
    for family in Family:
        if family not in ROW_FAMILIES:
            yield from _element_candidates(family, first)


def _row_candidates(family: Family, first: Seen) -> Iterator[LossForm]:
    """Rows of each label tell that label's weight and how much of the target lies on the other classes."""
    classes = first.rows.values.shape[-1]
    scales: dict[int, float] = {}
    off: dict[int, float] = {}
    for label in np.unique(first.rows.labels):
        picked = first.rows.labels == label
        scales[int(label)], off[int(label)] = _label_fit(family, first, picked)
    largest = max(abs(number) for number in scales.values())
    if not largest:
        return
    ignored = tuple(label for label, number in scales.items() if abs(number) < CLOSE * largest)
    counted = {label: number for label, number in scales.items() if label not in ignored}
    share = float(np.median([off[label] for label in counted]))
    even = max(counted.values()) - min(counted.values()) < 10 * CLOSE * largest
    base = LossForm(family, ignored=ignored)
    forms = [replace(base, smoothing=0.0)]
    if abs(share) * classes > CLOSE:
        forms = [
            replace(base, smoothing=short(share * classes), over=Over.ALL),
            replace(base, smoothing=short(share * (classes - 1)), over=Over.OTHERS),
        ]
    for form in forms:
        if even:
            yield from _reduced(form, float(np.median(list(counted.values()))), first)
        else:
            yield from _weighted(form, counted, first)


def _label_fit(family: Family, seen: Seen, picked: Wide) -> tuple[float, float]:
    """The weight of one label's rows, and the target's share of each other class."""
    values, one_hot, gradient = (part[picked] for part in (seen.rows.values, seen.rows.targets, seen.gradient))
    ones = np.ones_like(values)
    classes = values.shape[-1]
    if family is Family.NLL:
        basis = [one_hot, ones]
        on, low = _least_squares(basis, gradient)
        scale = -(on + classes * low)
        return scale, (-low / scale if scale else 0.0)
    if family is Family.SOFTMAX_TWICE:
        inner = softmax(values)
        basis = [through_softmax(softmax(inner), inner), through_softmax(one_hot, inner)]
    else:
        basis = [softmax(values), one_hot, ones]
    scale, on, *_ = _least_squares(basis, gradient)
    return scale, ((1.0 + on / scale) / classes if scale else 0.0)


def _least_squares(basis: Sequence[Wide], wanted: Wide) -> list[float]:
    matrix = np.stack([array.reshape(-1) for array in basis], axis=1)
    return [float(one) for one in np.linalg.lstsq(matrix, wanted.reshape(-1), rcond=None)[0]]


def _weighted(form: LossForm, scales: dict[int, float], first: Seen) -> Iterator[LossForm]:
    mean = sum(scales.values()) / len(scales)
    relative = tuple((label, short(number / mean)) for label, number in scales.items())
    yield replace(form, weights=tuple((label, number / mean) for label, number in scales.items()))
    count = float(len(first.rows.values))
    for reduction, by in ((Reduction.SUM, 1.0), (Reduction.MEAN_ALL, count)):
        kept = Reduction.NONE if first.value.size > 1 and reduction is Reduction.SUM else reduction
        weights = tuple((label, short(number * by)) for label, number in scales.items())
        yield replace(form, reduction=kept, weights=weights)
    yield replace(form, weights=relative)


def _reduced(form: LossForm, scale: float, first: Seen) -> Iterator[LossForm]:
    """``scale`` is what each term's slope was multiplied by: one over the divisor, times a factor."""
    if first.value.size > 1:
        yield replace(form, reduction=Reduction.NONE, factor=short(scale))
        return
    for reduction in _REDUCTIONS:
        tried = replace(form, reduction=reduction)
        factor = short(scale * _divisor(tried, first))
        yield replace(tried, factor=factor)


def _divisor(form: LossForm, seen: Seen) -> float:
    counted = row_weights(form, seen.rows) if form.family in ROW_FAMILIES else np.ones(seen.rows.values.size)
    return divisor(form, seen.rows, float(counted.sum()))


def _element_candidates(family: Family, first: Seen) -> Iterator[LossForm]:
    x, t, g = first.rows.values, first.rows.targets, first.gradient
    on, off = t > 0.5, t < 0.5
    form = LossForm(family)
    if family in (Family.BCE_LOGITS, Family.SIGMOID_TWICE):
        inner = sigmoid(x) if family is Family.SIGMOID_TWICE else x
        chain = inner * (1 - inner) if family is Family.SIGMOID_TWICE else np.ones_like(x)
        scale, low = _least_squares([(sigmoid(inner) * chain)[off], chain[off]], g[off])
        up, high = _least_squares([(sigmoid(inner) * chain)[on], chain[on]], g[on])
        if not scale or not up:
            return
        bounds = tuple(short(number) if abs(number) > CLOSE else 0.0 for number in (-low / scale, -high / up))
        form = replace(form, positive=short(up / scale), bounds=(bounds[0], bounds[1]))
    elif family is Family.BCE:
        if x.min() <= 0.0 or x.max() >= 1.0:
            return
        scale, up = _least_squares([1 / (1 - x[off])], g[off])[0], _least_squares([-1 / x[on]], g[on])[0]
        if not scale:
            return
        form = replace(form, positive=short(up / scale))
    else:
        if family is Family.SMOOTH_L1:
            form = replace(form, beta=_beta(x - t, g))
        scale = _least_squares([evaluate(replace(form, reduction=Reduction.SUM), first.rows)[1]], g)[0]
    yield from _reduced(form, scale, first)


def _beta(apart: Wide, gradient: Wide) -> float:
    """Where a slope that grows becomes a slope that stays."""
    order = np.argsort(np.abs(apart), axis=None)
    few = max(len(order) // 20, 1)
    flat, slopes = apart.reshape(-1)[order], np.abs(gradient.reshape(-1)[order])
    rising = float(np.median(slopes[:few] / np.maximum(np.abs(flat[:few]), 1e-30)))
    staying = float(np.median(slopes[-few:]))
    return short(staying / rising) if rising and staying else 1.0
