"""Which form, with which settings, makes the steps that an optimizer was seen to make."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final

import numpy as np

from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.pair.update.forms import KNOBS, DecayForm, EpsForm, Family, Form, simulate

# Frameworks work out 1 - beta in single precision: steps of one and the same form differ by 1e-5 of themselves.
LIMIT: Final = 1e-4
# Units in the last place of a weight that rounding may add up to over the steps.
_ULPS: Final = 16
_EPSILON: Final = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
# Settings that an optimizer may take and not heed: nn.Momentum's use_nesterov on the CPU is one.
_IGNORED: Final[tuple[tuple[str, ...], ...]] = ((), ("nesterov", "use_nesterov"), ("amsgrad", "use_amsgrad"))
# Settings that people choose, for optimizers that do not say theirs.
_TRIED: Final[Mapping[str, Sequence[Any]]] = {
    "momentum": (0.0, 0.5, 0.6, 0.7, 0.8, 0.85, 0.95, 0.98, 0.99),
    "dampening": (0.0, 0.1, 0.5, 0.9),
    "nesterov": (False, True),
    "beta1": (0.0, 0.5, 0.8, 0.85, 0.9, 0.95),
    "beta2": (0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 0.9999),
    "eps": tuple(10.0**-power for power in range(2, 17)),
    "weight_decay": (0.0, *(digit * 10.0**-power for power in range(1, 7) for digit in (1, 2, 5))),
}
_STARTS: Final = {Family.RMSPROP: (0.0, 1.0), Family.ADAGRAD: (0.0, 0.1, 1.0)}


@dataclass(frozen=True, slots=True)
class Trial:
    """What both optimizers are given: weights, gradients of each step (rows) and rates.

    ``cuts`` are where each parameter begins, and the end; ``dtypes`` are the coarser of both sides' for each. ``tiny``
    marks elements whose gradients are too small to be ordinary.
    """

    weights: Array
    gradients: Array
    rates: Sequence[float]
    cuts: Sequence[int]
    dtypes: Sequence[str]
    tiny: Array

    def part(self, place: int) -> slice:
        """The elements of one parameter."""
        return slice(self.cuts[place], self.cuts[place + 1])

    def gaps(self, here: Array, there: Array, place: int) -> Array:
        """How far apart two outcomes of a parameter are, element by element, relative to how far ``there`` has moved.

        LIMIT or less is rounding.
        """
        start = self.weights[self.part(place)].astype(np.float64)
        unit = _EPSILON.get(self.dtypes[place], 2.0**-23)
        with np.errstate(all="ignore"):
            moved = np.abs(there - start).max(0)
            least = _ULPS * unit * np.maximum(np.abs(there).max(0), np.abs(start)) / LIMIT
            scale = np.maximum(moved, least)
            apart = np.abs(here - there).max(0) / np.where(scale > 0, scale, 1.0)
        same = (~np.isfinite(here) & ~np.isfinite(there)).any(0)
        found = np.where(np.isfinite(apart), apart, np.where(same, 0.0, np.inf))
        return np.asarray(found)


@dataclass(frozen=True, slots=True)
class Fit:
    """A way of stepping that explains what was seen: the form of each parameter, None for one that is not updated."""

    forms: Sequence[Form | None]


def fits(
    trial: Trial,
    seen: Array,
    kind: str,
    settings: Sequence[Mapping[str, Json] | None],
    more: Sequence[Form] = (),
    *,
    limit: float = LIMIT,
) -> list[Fit]:
    """All ways that explain what was seen, the likelier ones first; ``settings`` are each parameter's.

    ``more`` are further forms that may explain an optimizer whose settings cannot be read.
    """
    found: list[Fit] = []
    for way in _ways(kind, settings):
        for ignored in _IGNORED:
            forms = _each(
                trial, seen, [None if setting is None else _form(way, setting, ignored) for setting in settings], limit
            )
            if forms is not None:
                found.append(Fit(forms))
                break
    if not found:
        for form in (other for candidate in more for other in _other_ways(candidate)):
            forms = _each(trial, seen, [None if setting is None else form for setting in settings], limit)
            if forms is not None:
                found.append(Fit(forms))
    return found


def _each(trial: Trial, seen: Array, forms: Sequence[Form | None], limit: float) -> list[Form | None] | None:
    """The form of each parameter, which may leave out the decay; None where one does not explain it."""
    found: list[Form | None] = []
    for place, form in enumerate(forms):
        chosen = None if form is None else _explains(trial, seen, place, form, limit)
        if form is not None and chosen is None:
            return None
        found.append(chosen)
    return found


def _explains(trial: Trial, seen: Array, place: int, form: Form, limit: float) -> Form | None:
    part = trial.part(place)
    for way in (form, replace(form, weight_decay=0.0)) if form.weight_decay else (form,):
        made = simulate(way, trial.weights[part], trial.gradients[:, part], trial.rates)
        if trial.gaps(seen[:, part], made, place).max(initial=0.0) <= limit:
            return way
    return None


def _ways(kind: str, settings: Sequence[Mapping[str, Json] | None]) -> Iterator[Form]:
    """Every way of every family that an optimizer of this name and these settings may be of."""
    known = {name for setting in settings if setting is not None for name in setting}
    decays: tuple[DecayForm, ...] = tuple(DecayForm)
    if any(word in kind.lower() for word in ("adamw", "weightdecay", "decoupled")):
        decays = (DecayForm.DECOUPLED, DecayForm.COUPLED, DecayForm.WITHOUT_RATE)
    for family in _families(kind, known):
        starts = _STARTS.get(family, (0.0,))
        eps_forms = tuple(EpsForm) if family is Family.ADAM else (EpsForm.AFTER, EpsForm.INSIDE)
        if family in (Family.SGD, Family.ADAGRAD):
            eps_forms = (EpsForm.AFTER,)
        corrected = (True, False) if family is Family.ADAM else (True,)
        inside = (False, True) if family in (Family.SGD, Family.RMSPROP) else (False,)
        for decay, bias, eps_form, start, rate_inside in product(decays, corrected, eps_forms, starts, inside):
            if bias or eps_form is not EpsForm.BEFORE:
                yield Form(
                    family,
                    eps_form=eps_form,
                    bias_correction=bias,
                    start=start,
                    rate_inside=rate_inside,
                    decay_form=decay,
                )


def _other_ways(form: Form) -> Iterator[Form]:
    """A form, the same settings in every other way of its family, and each with one setting another."""
    ways = ("eps_form", "bias_correction", "start", "rate_inside", "decay_form")
    others = [
        replace(form, **{name: getattr(way, name) for name in ways})
        for way in _ways(form.family.value, ())
        if way.family is form.family
    ]
    yield form
    yield from others
    knobs = [knob for knob in (*KNOBS[form.family], "weight_decay") if knob in _TRIED]
    for candidate, knob in product(others, knobs):
        for value in _TRIED[knob]:
            yield replace(candidate, **{knob: value})


def _families(kind: str, known: set[str]) -> list[Family]:
    name = kind.lower()
    named = {
        Family.ADAM: "adam",
        Family.RMSPROP: "rmsprop",
        Family.ADAGRAD: "adagrad",
        Family.SGD: "sgd",
    }
    found = [family for family, word in named.items() if word in name]
    if "momentum" in name and not found:
        found.append(Family.SGD)
    if known & {"betas", "beta1"}:
        found.append(Family.ADAM)
    if known & {"alpha", "decay", "rho"}:
        found.append(Family.RMSPROP)
    return list(dict.fromkeys([*found, Family.SGD]))


def _form(way: Form, given: Mapping[str, Json], ignored: Sequence[str]) -> Form:
    """A way with one group's settings, under whichever names."""
    settings = {name: value for name, value in given.items() if name not in ignored}

    def number(*names: str, default: float) -> float:
        values = (_number(settings.get(name)) for name in names)
        return next((value for value in values if value is not None), default)

    betas = settings.get("betas")
    listed = [_number(beta) for beta in betas] if isinstance(betas, list | tuple) else []
    numbers = [beta for beta in listed if beta is not None]
    pair = numbers if len(numbers) == len(listed) == 2 else [0.9, 0.999]
    family = way.family
    if family is Family.RMSPROP:
        beta2 = number("alpha", "decay", "rho", default=0.99)
    else:
        beta2 = number("beta2", default=pair[1])
    return replace(
        way,
        momentum=number("momentum", default=0.0),
        dampening=number("dampening", default=0.0),
        nesterov=bool(settings.get("nesterov") or settings.get("use_nesterov")),
        beta1=number("beta1", default=pair[0]),
        beta2=beta2,
        eps=number("eps", "epsilon", default=0.0 if family is Family.ADAGRAD else 1e-8),
        amsgrad=bool(settings.get("amsgrad") or settings.get("use_amsgrad")),
        centered=bool(settings.get("centered")),
        weight_decay=number("weight_decay", default=0.0),
    )


def _number(value: Json) -> float | None:
    """A finite number; None for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return float(value)
