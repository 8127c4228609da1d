"""Optimizers taken in hand: their settings, a rate of one's own, gradients of one's own, schedules."""

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
    """The groups with their plain settings."""
    return [
        Group(
            {name: value for name, value in group.settings.items() if name not in _NO_SETTINGS and value is not None},
            group.parameters,
        )
        for group in values.groups(optimizer)
    ]


def dynamic(optimizer: Optimizer) -> bool:  # noqa: ARG001
    """Whether the optimizer changes its rates by itself: torch leaves that to schedulers."""
    return False


def plain_sgd(parameters: Sequence[Value], rate: float) -> Optimizer:
    """Gradient descent without anything else."""
    return torch.optim.SGD(parameters, lr=rate)


def use_rate(optimizer: Optimizer, rate: float) -> bool:
    """Let every group step with this rate; False where that cannot be said."""
    for group in optimizer.param_groups:
        if values.is_tensor(group["lr"]):
            group["lr"].fill_(rate)
        else:
            group["lr"] = rate
    return True


def step(optimizer: Optimizer, gradients: Mapping[int, Array]) -> None:
    """One step with gradients by the id of their parameter; a parameter without one is left alone."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            given = gradients.get(id(parameter))
            parameter.grad = values.from_numpy(given, like=parameter) if given is not None else None
    optimizer.step()
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None


def rates(optimizer: Optimizer, steps: Sequence[int]) -> list[list[float]]:
    """The rates of all groups at these steps: as they are now, since a torch optimizer does not change them."""
    return [[float(group["lr"]) for group in optimizer.param_groups]] * len(steps)


def rate_at(schedule: Foreign, place: int) -> float:
    """What a function of the step gives."""
    return float(schedule(place))


def move_on(schedule: Foreign) -> None:
    """One step of a scheduler, whether or not the optimizer has stepped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(schedule, torch.optim.lr_scheduler.ReduceLROnPlateau):
            # As where nothing gets better.
            schedule.step(1.0)
        else:
            schedule.step()
