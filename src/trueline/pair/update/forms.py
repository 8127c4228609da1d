"""What optimizers do with gradients, in NumPy: each form is what one framework or another calls by the same name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from trueline.kernel.array import Array

Doubles = npt.NDArray[np.float64]


class Family(StrEnum):
    """The kinds of optimizers whose forms are known."""

    SGD = "SGD"
    ADAM = "Adam"
    RMSPROP = "RMSprop"
    ADAGRAD = "Adagrad"


class EpsForm(StrEnum):
    """Where eps is added."""

    AFTER = "after"
    BEFORE = "before"
    INSIDE = "inside"


class DecayForm(StrEnum):
    """How weights decay: through the gradient, by themselves times the rate, or by themselves alone."""

    COUPLED = "coupled"
    DECOUPLED = "decoupled"
    WITHOUT_RATE = "without_rate"


@dataclass(frozen=True, slots=True)
class Form:
    """One optimizer: the family, its settings and its ways.

    ``eps_form``: eps is added after bias correction, before it, or inside the root (outside of it: ``AFTER``).
    ``rate_inside``: the momentum holds steps, not gradients. ``start`` is what squares are summed up on.
    """

    family: Family
    momentum: float = 0.0
    dampening: float = 0.0
    nesterov: bool = False
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    eps_form: EpsForm = EpsForm.AFTER
    bias_correction: bool = True
    amsgrad: bool = False
    centered: bool = False
    start: float = 0.0
    rate_inside: bool = False
    weight_decay: float = 0.0
    decay_form: DecayForm = DecayForm.COUPLED


# What makes a difference within each family, beside the weight decay.
KNOBS: Final[dict[Family, tuple[str, ...]]] = {
    Family.SGD: ("momentum", "dampening", "nesterov", "rate_inside"),
    Family.ADAM: ("beta1", "beta2", "eps", "eps_form", "bias_correction", "amsgrad", "nesterov"),
    Family.RMSPROP: ("beta2", "eps", "eps_form", "momentum", "centered", "start", "rate_inside"),
    Family.ADAGRAD: ("eps", "start"),
}


def simulate(form: Form, weights: Array, gradients: Array, rates: Sequence[float]) -> Doubles:
    """The weights after each step: one row per step, in double precision."""
    now: Doubles = weights.astype(np.float64)
    state = _State(now.shape)
    after = np.empty((len(rates), *now.shape))
    change_by = _RULES[form.family]
    with np.errstate(all="ignore"):
        for step, rate in enumerate(rates):
            gradient: Doubles = gradients[step].astype(np.float64)
            decayed = form.weight_decay * now
            if form.decay_form is DecayForm.COUPLED:
                gradient = gradient + decayed
            change = change_by(form, state, gradient, rate)
            if form.decay_form is DecayForm.DECOUPLED:
                change = change + rate * decayed
            elif form.decay_form is DecayForm.WITHOUT_RATE:
                change = change + decayed
            now = now - change
            after[step] = now
    return after


class _State:
    """What an optimizer remembers from step to step."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.count = 0
        self.velocity: Doubles = np.zeros(shape)
        self.mean: Doubles = np.zeros(shape)
        self.square: Doubles | None = None
        self.largest: Doubles = np.zeros(shape)


def _sgd(form: Form, state: _State, gradient: Doubles, rate: float) -> Doubles:
    state.count += 1
    if not form.momentum:
        return rate * gradient
    given = rate * gradient if form.rate_inside else gradient
    kept = 1.0 if state.count == 1 else 1.0 - form.dampening
    state.velocity = form.momentum * state.velocity + kept * given
    step = given + form.momentum * state.velocity if form.nesterov else state.velocity
    return step if form.rate_inside else rate * step


def _adam(form: Form, state: _State, gradient: Doubles, rate: float) -> Doubles:
    state.count += 1
    square = state.square if state.square is not None else np.zeros_like(gradient)
    state.mean = form.beta1 * state.mean + (1.0 - form.beta1) * gradient
    state.square = square = form.beta2 * square + (1.0 - form.beta2) * np.square(gradient)
    if form.amsgrad:
        state.largest = square = np.maximum(state.largest, square)
    mean = form.beta1 * state.mean + (1.0 - form.beta1) * gradient if form.nesterov else state.mean
    first, second = 1.0, 1.0
    if form.bias_correction:
        first, second = 1.0 - form.beta1**state.count, 1.0 - form.beta2**state.count
    if form.eps_form is EpsForm.BEFORE:
        return np.asarray(rate * np.sqrt(second) / first * mean / (np.sqrt(square) + form.eps))
    if form.eps_form is EpsForm.INSIDE:
        return np.asarray(rate * (mean / first) / np.sqrt(square / second + form.eps))
    return np.asarray(rate * (mean / first) / (np.sqrt(square / second) + form.eps))


def _rmsprop(form: Form, state: _State, gradient: Doubles, rate: float) -> Doubles:
    square = state.square if state.square is not None else np.full_like(gradient, form.start)
    state.square = square = form.beta2 * square + (1.0 - form.beta2) * np.square(gradient)
    if form.centered:
        state.mean = form.beta2 * state.mean + (1.0 - form.beta2) * gradient
        square = square - np.square(state.mean)
    root = np.sqrt(square + form.eps) if form.eps_form is EpsForm.INSIDE else np.sqrt(square) + form.eps
    step = gradient / root
    if not form.momentum:
        return rate * step
    state.velocity = form.momentum * state.velocity + (rate * step if form.rate_inside else step)
    return state.velocity if form.rate_inside else rate * state.velocity


def _adagrad(form: Form, state: _State, gradient: Doubles, rate: float) -> Doubles:
    square = state.square if state.square is not None else np.full_like(gradient, form.start)
    state.square = square = square + np.square(gradient)
    return np.asarray(rate * gradient / (np.sqrt(square) + form.eps))


_RULES: Final[dict[Family, Callable[[Form, _State, Doubles, float], Doubles]]] = {
    Family.SGD: _sgd,
    Family.ADAM: _adam,
    Family.RMSPROP: _rmsprop,
    Family.ADAGRAD: _adagrad,
}
