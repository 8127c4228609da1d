"""Two optimizers' forms side by side: what differs, for which parameters, and whether that explains their steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from trueline.kernel.array import Array
from trueline.pair.blame import Cause, Setting
from trueline.pair.update.fit import LIMIT, Fit, Trial
from trueline.pair.update.forms import KNOBS, EpsForm, Family, Form, simulate

_CAUSES: Final = {
    "family": Cause.OPTIMIZER,
    "momentum": Cause.OPTIMIZER_MOMENTUM,
    "rate_inside": Cause.OPTIMIZER_MOMENTUM,
    "dampening": Cause.DAMPENING,
    "nesterov": Cause.NESTEROV,
    "beta1": Cause.BETAS,
    "beta2": Cause.BETAS,
    "eps": Cause.OPTIMIZER_EPS,
    "eps_form": Cause.EPS_FORM,
    "bias_correction": Cause.OPTIMIZER,
    "amsgrad": Cause.OPTIMIZER,
    "centered": Cause.OPTIMIZER,
    "start": Cause.OPTIMIZER,
    "weight_decay": Cause.WEIGHT_DECAY,
    "decay_form": Cause.DECAY_FORM,
}
_SAME: Final = 1e-5


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that two optimizers do otherwise for some parameters (places among the pairs).

    ``effect`` is how far the steps lie apart by this alone for ordinary gradients, ``on_tiny`` for tiny ones, ``left``
    how far apart they are once it, and everything else that differs, is the benchmark's.
    """

    knob: str
    cause: Cause
    bench: Setting
    port: Setting
    places: tuple[int, ...]
    effect: float
    on_tiny: float
    left: float

    @property
    def confirmed(self) -> bool:
        """Whether changing it brings the port's steps to the benchmark's."""
        return self.left <= LIMIT

    @property
    def latent(self) -> bool:
        """Whether ordinary gradients do not show it."""
        return self.effect <= LIMIT


def nearest(bench: Sequence[Fit], port: Sequence[Fit]) -> tuple[Fit, Fit] | None:
    """Of all that explains either side, the two with the least between them."""
    pairs = [(there, here) for there in bench for here in port]
    return min(pairs, key=_between, default=None)


def _between(pair: tuple[Fit, Fit]) -> int:
    return sum(
        len(list(differing(there, here)))
        for there, here in zip(pair[0].forms, pair[1].forms, strict=True)
        if there is not None and here is not None
    )


def differing(bench: Form, port: Form) -> Iterator[str]:
    """The knobs of which two forms have other values that matter to them."""
    if bench.family is not port.family:
        yield "family"
    else:
        for knob in KNOBS[bench.family]:
            if not _matters(knob, bench, port):
                continue
            if not _same(getattr(bench, knob), getattr(port, knob)):
                yield knob
    if not _same(bench.weight_decay, port.weight_decay):
        yield "weight_decay"
    elif bench.weight_decay and bench.decay_form is not port.decay_form:
        yield "decay_form"


def _matters(knob: str, bench: Form, port: Form) -> bool:
    if knob in ("dampening", "nesterov", "rate_inside") and bench.family is not Family.ADAM:
        return bool(bench.momentum or port.momentum)
    if knob == "eps_form" and not (bench.bias_correction and port.bias_correction):
        # Without bias correction there is nothing for eps to come before or after.
        return EpsForm.INSIDE in (bench.eps_form, port.eps_form)
    return True


def _same(bench: Setting, port: Setting) -> bool:
    if isinstance(bench, float) and isinstance(port, float):
        return math.isclose(bench, port, rel_tol=_SAME)
    return bool(bench == port)


def differences(trial: Trial, seen: Array, bench: Fit, port: Fit) -> list[Difference]:
    """Everything that differs and shows, by knob and by both values; ``seen`` are the benchmark's steps."""
    places: dict[tuple[str, Any, Any], list[int]] = {}
    for place, (there, here) in enumerate(zip(bench.forms, port.forms, strict=True)):
        if there is not None and here is not None:
            for knob in differing(there, here):
                places.setdefault((knob, getattr(there, knob), getattr(here, knob)), []).append(place)
    differences = []
    for (knob, wanted, has), members in places.items():
        effect, on_tiny, left = 0.0, 0.0, 0.0
        for place in members:
            there, here = bench.forms[place], port.forms[place]
            assert there is not None and here is not None
            part = trial.part(place)
            apart = _apart(trial, seen, place)
            tiny = trial.tiny[part]
            gaps = apart(_with(there, here, knob))
            effect = max(effect, float(gaps[~tiny].max(initial=0.0)))
            on_tiny = max(on_tiny, float(gaps[tiny].max(initial=0.0)))
            left = max(left, float(apart(there).max(initial=0.0)))
        if max(effect, on_tiny) > LIMIT:
            differences.append(Difference(knob, _CAUSES[knob], wanted, has, tuple(members), effect, on_tiny, left))
    return differences


def _with(bench: Form, port: Form, knob: str) -> Form:
    """The benchmark's form with only this knob as the port has it."""
    if knob == "family":
        return replace(port, weight_decay=bench.weight_decay, decay_form=bench.decay_form)
    if knob == "weight_decay" and port.weight_decay and not bench.weight_decay:
        return replace(bench, weight_decay=port.weight_decay, decay_form=port.decay_form)
    return replace(bench, **{knob: getattr(port, knob)})


def _apart(trial: Trial, seen: Array, place: int) -> Callable[[Form], Array]:
    part = trial.part(place)

    def apart(form: Form) -> Array:
        made = simulate(form, trial.weights[part], trial.gradients[:, part], trial.rates)
        return trial.gaps(made, seen[:, part], place)

    return apart
