"""Controlling optimizers: settings, learning rates, given gradients, schedules."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import torch

from trueline.adapters.nouns import Foreign, Group, Optimizer, Value
from trueline.adapters.torch import values
from trueline.kernel.array import Array

# What speed or debugging is chosen by, not what a step does.
_NO_SETTINGS = ("foreach", "fused", "capturable", "differentiable", "initial_lr")


def is_optimizer(value: object) -> bool:
    """Whether a value is an optimizer."""
    return isinstance(value, torch.optim.Optimizer)


def settings(optimizer: Optimizer) -> list[Group]:
    """The parameter groups with their plain settings."""
    return [
        Group(
            {name: value for name, value in group.settings.items() if name not in _NO_SETTINGS and value is not None},
            group.parameters,
        )
        for group in values.groups(optimizer)
    ]


def dynamic(optimizer: Optimizer) -> bool:  # noqa: ARG001
    """False: torch optimizers leave learning rates to schedulers."""
    return False


def plain_sgd(parameters: Sequence[Value], rate: float) -> Optimizer:
    """Plain gradient descent."""
    return torch.optim.SGD(parameters, lr=rate)


def use_rate(optimizer: Optimizer, rate: float) -> bool:
    """Use this learning rate in every group; False where that is not possible."""
    for group in optimizer.param_groups:
        if values.is_tensor(group["lr"]):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate
    return True


def step(optimizer: Optimizer, gradients: Mapping[int, Array]) -> None:
    """One step with gradients keyed by ``id(parameter)``; parameters without one are not updated."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            given = gradients.get(id(parameter))
            parameter.grad = values.from_numpy(given, like=parameter) if given is not None else None
    optimizer.step()
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None


def rates(optimizer: Optimizer, steps: Sequence[int]) -> list[list[float]]:
    """The learning rates of all groups at these steps: the current ones, since a torch optimizer has no schedule."""
    return [[float(group["lr"]) for group in optimizer.param_groups]] * len(steps)


def rate_at(schedule: Foreign, place: int) -> float:
    """The rate that a function of the step returns."""
    return float(schedule(place))


def move_on(schedule: Foreign) -> None:
    """Advance a scheduler by one step, whether or not the optimizer has stepped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(schedule, torch.optim.lr_scheduler.ReduceLROnPlateau):
            # As where nothing gets better.
            schedule.step(1.0)
        else:
            schedule.step()
