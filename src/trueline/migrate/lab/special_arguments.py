"""Constructors of MindSpore whose arguments are no one by one translation of torch's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from trueline.migrate.lab.draw import DrawnValue
from trueline.migrate.lab.drawing.scene import per_axis


class Untranslatable(Exception):  # noqa: N818 - a verdict on an argument, no fault
    """MindSpore's class has nothing to write for an argument of torch's."""

    def __init__(self, argument: str) -> None:
        super().__init__(argument)
        self.argument = argument


# What torch's constructor is given, its defaults, and what a schedule is beside: MindSpore's arguments.
Writer = Callable[[Mapping[str, DrawnValue], Mapping[str, Any], Mapping[str, Any]], dict[str, DrawnValue]]


def _refuse(given: Mapping[str, DrawnValue], defaults: Mapping[str, Any], *known: str) -> None:
    """Stop where an argument is given that has no place and is not at its default."""
    for name, value in given.items():
        if name not in known and value != defaults.get(name):
            raise Untranslatable(name)


def _unfold(given: Mapping[str, DrawnValue], defaults: Mapping[str, Any], _: Mapping[str, Any]) -> dict[str, Any]:
    whole = {**defaults, **given}
    if whole.get("padding", 0) != 0:
        raise Untranslatable("padding")
    names = {"ksizes": "kernel_size", "strides": "stride", "rates": "dilation"}
    return {name: [1, *per_axis(whole.get(theirs, 1), 2), 1] for name, theirs in names.items()}


def _response_norm(
    given: Mapping[str, DrawnValue], defaults: Mapping[str, Any], _: Mapping[str, Any]
) -> dict[str, Any]:
    size = given.get("size", 1)
    if size % 2 == 0:
        raise Untranslatable("size")
    found: dict[str, Any] = {"depth_radius": size // 2} if "size" in given else {}
    for ours, theirs in {"alpha": "alpha", "beta": "beta", "k": "bias"}.items():
        if ours in given:
            # torch divides by the size.
            found[theirs] = given[ours] / size if ours == "alpha" else given[ours]
    _refuse(given, defaults, "size", "alpha", "beta", "k")
    return found


def _cosine_list(given: Mapping[str, DrawnValue], _: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    found = {"min_lr": given.get("eta_min", 0.0), "max_lr": more["rate"]}
    return {**found, "total_step": more["steps"], "step_per_epoch": 1, "decay_epoch": given["T_max"]}


def _cosine_cell(given: Mapping[str, DrawnValue], _: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    return {"min_lr": given.get("eta_min", 0.0), "max_lr": more["rate"], "decay_steps": given["T_max"]}


def _exponential_list(given: Mapping[str, DrawnValue], _: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    found = {"learning_rate": more["rate"], "decay_rate": given["gamma"]}
    return {**found, "total_step": more["steps"], "step_per_epoch": 1, "decay_epoch": 1}


def _exponential_cell(given: Mapping[str, DrawnValue], _: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    return {"learning_rate": more["rate"], "decay_rate": given["gamma"], "decay_steps": 1}


def _polynomial_list(
    given: Mapping[str, DrawnValue], defaults: Mapping[str, Any], more: Mapping[str, Any]
) -> dict[str, Any]:
    whole = {"total_iters": 5, "power": 1.0, **defaults, **given}
    found = {"learning_rate": more["rate"], "end_learning_rate": 0.0, "power": whole["power"]}
    return {**found, "total_step": more["steps"], "step_per_epoch": 1, "decay_epoch": whole["total_iters"]}


def _polynomial_cell(
    given: Mapping[str, DrawnValue], defaults: Mapping[str, Any], more: Mapping[str, Any]
) -> dict[str, Any]:
    whole = {"total_iters": 5, "power": 1.0, **defaults, **given}
    found = {"learning_rate": more["rate"], "end_learning_rate": 0.0, "power": whole["power"]}
    return {**found, "decay_steps": whole["total_iters"]}


def _piecewise_list(
    given: Mapping[str, DrawnValue], defaults: Mapping[str, Any], more: Mapping[str, Any]
) -> dict[str, Any]:
    whole, steps = {"gamma": 0.1, **defaults, **given}, more["steps"]
    places = whole.get("milestones") or range(whole["step_size"], steps, whole["step_size"])
    ends = [*(place for place in places if place < steps), steps]
    return {"milestone": ends, "learning_rates": [more["rate"] * whole["gamma"] ** place for place in range(len(ends))]}


def _uniform_operator(given: Mapping[str, DrawnValue], _: Mapping[str, Any], __: Mapping[str, Any]) -> dict[str, Any]:
    low, high = given.get("a", 0.0), given.get("b", 1.0)
    return {"minval": np.asarray(low, np.float32), "maxval": np.asarray(high, np.float32)}


def _uniform(given: Mapping[str, DrawnValue], _: Mapping[str, Any], __: Mapping[str, Any]) -> dict[str, Any]:
    if "a" not in given and "b" not in given:
        return {}
    if given.get("a") != -given.get("b", 1.0):
        raise Untranslatable("a")
    return {"scale": given.get("b", 1.0)}


WRITERS: Final[Mapping[str, Writer]] = {
    "mindspore.nn.Unfold": _unfold,
    "mindspore.nn.LRN": _response_norm,
    "mindspore.nn.cosine_decay_lr": _cosine_list,
    "mindspore.nn.CosineDecayLR": _cosine_cell,
    "mindspore.nn.exponential_decay_lr": _exponential_list,
    "mindspore.nn.ExponentialDecayLR": _exponential_cell,
    "mindspore.nn.polynomial_decay_lr": _polynomial_list,
    "mindspore.nn.PolynomialDecayLR": _polynomial_cell,
    "mindspore.nn.piecewise_constant_lr": _piecewise_list,
    "mindspore.common.initializer.Uniform": _uniform,
    "mindspore.ops.uniform": _uniform_operator,
}
