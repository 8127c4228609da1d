"""Controlling optimizers: settings, learning rates, given gradients, schedules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import mindspore as ms
import numpy as np
from mindspore import nn

from trueline.adapters.mindspore import values
from trueline.adapters.mindspore.internals import ConstantRate
from trueline.adapters.mindspore.wrappers import OPTIMIZERS
from trueline.adapters.nouns import Foreign, Group, Optimizer, Value
from trueline.kernel.array import Array

_MORE_SETTINGS = ("betas", "centered", "accum", "update_slots", "rate", "initial_accumulator_value")
_NO_SETTINGS = ("loss_scale", "lr_float", "grad_centralization")
# A list that is longer is no setting.
_MAX_LIST_LENGTH = 8


def is_optimizer(value: object) -> bool:
    """Whether a value is an optimizer."""
    return isinstance(value, OPTIMIZERS)


def settings(optimizer: Optimizer) -> list[Group]:
    """The parameter groups with their plain settings."""
    own = getattr(optimizer, "param_groups", None)
    groups = []
    for place, group in enumerate(values.groups(optimizer)):
        held = own[place] if own is not None else vars(optimizer)
        more = {name: _plain(held[name]) for name in _MORE_SETTINGS if name in held}
        plain = {name: value for name, value in group.settings.items() if name not in _NO_SETTINGS}
        if "weight_decay" in plain:
            # Kept for gradients of a scaled loss.
            plain["weight_decay"] = float(f"{plain['weight_decay'] / _scale(optimizer):.6g}")
        groups.append(Group({**plain, **{k: v for k, v in more.items() if v is not None}}, group.parameters))
    return groups


def _scale(optimizer: Optimizer) -> float:
    """The loss scale that the optimizer divides gradients by."""
    scale = getattr(optimizer, "loss_scale", 1.0)
    return float(scale) if isinstance(scale, int | float) and scale > 0 else 1.0


def _plain(value: Value) -> Value:
    if (
        isinstance(value, list | tuple)
        and len(value) <= _MAX_LIST_LENGTH
        and all(isinstance(part, int | float) for part in value)
    ):
        return list(value)
    return value if isinstance(value, bool | int | float) else None


def dynamic(optimizer: Optimizer) -> bool:
    """Whether the optimizer schedules its own learning rates."""
    return bool(getattr(optimizer, "dynamic_lr", False))


def plain_sgd(parameters: Sequence[Value], rate: float) -> Optimizer:
    """Plain gradient descent."""
    return nn.SGD(list(parameters), learning_rate=rate)


def use_rate(optimizer: Optimizer, rate: float) -> bool:
    """Use this learning rate in every group; False where that is not possible."""
    if hasattr(optimizer, "param_groups"):
        for group in optimizer.param_groups:
            _use_in(group, rate)
        return True
    if not isinstance(optimizer, nn.Optimizer) or not hasattr(optimizer, "learning_rate"):
        return False
    if not optimizer.dynamic_lr:
        held_rates = optimizer.learning_rate if optimizer.is_group_lr else [optimizer.learning_rate]
        for held in held_rates:
            values.assign(held, np.asarray(rate, np.float32))
        return True
    if optimizer.is_group_lr:
        for place, schedule in enumerate(optimizer.learning_rate):
            optimizer.learning_rate[place] = _constant(schedule, rate, f"rate_{place}")
    else:
        optimizer.learning_rate = _constant(optimizer.learning_rate, rate, "rate")
    return True


def _use_in(group: dict[str, Value], rate: float) -> None:
    if values.is_tensor(group["lr"]):
        values.assign(group["lr"], np.asarray(rate, np.float32))
    else:
        group["lr"] = rate
    if "lr_float" in group:
        group["lr_float"] = rate


def _constant(now: Foreign, rate: float, name: str) -> Foreign:
    """A schedule that returns a constant rate; reuses that of an earlier call, which may be compiled in."""
    if isinstance(now, ConstantRate):
        values.assign(now.learning_rate, np.asarray(rate, np.float32))
        return now
    return ConstantRate(ms.Parameter(ms.Tensor(rate, ms.float32), name))


def step(optimizer: Optimizer, gradients: Mapping[int, Array]) -> None:
    """One step with unscaled gradients keyed by ``id(parameter)``; zeros where none is given."""
    given = []
    scale = np.float32(_scale(optimizer))
    for parameter in optimizer.parameters:
        gradient = gradients.get(id(parameter))
        array = gradient if gradient is not None else np.zeros(values.shape(parameter), np.float32)
        given.append(values.from_numpy(array * scale if scale != 1 else array, like=parameter))
    optimizer(tuple(given))


def rates(optimizer: Optimizer, steps: Sequence[int]) -> list[list[float]]:
    """The learning rates of all groups at these steps; the current ones for an optimizer without a schedule."""
    groups = values.groups(optimizer)
    if hasattr(optimizer, "param_groups"):
        return [[float(group.settings.get("lr") or 0.0) for group in groups]] * len(steps)
    places = {id(parameter): place for place, parameter in enumerate(optimizer.parameters)}
    by_parameter = list(optimizer.group_lr) if optimizer.is_group_lr else [optimizer.learning_rate] * len(places)
    curves = [_curve(by_parameter[places[id(group.parameters[0])]], steps) for group in groups]
    return [list(row) for row in zip(*curves, strict=True)]


def _curve(rate: Foreign, steps: Sequence[int]) -> list[float]:
    listed = getattr(rate, "learning_rate", None) if isinstance(rate, nn.Cell) else rate
    if isinstance(listed, ms.Tensor):
        listed_rates = values.to_numpy(listed).reshape(-1)
        return [float(str(listed_rates[min(step, len(listed_rates) - 1)])) for step in steps]
    return [rate_at(rate, step) for step in steps]


def rate_at(schedule: Foreign, place: int) -> float:
    """The rate that a schedule cell or a function of the step returns."""
    if isinstance(schedule, nn.Cell):
        return values.read(schedule.construct(ms.Tensor([place], ms.int32)))
    return values.read(schedule(place))


def move_on(schedule: Foreign) -> None:
    """Advance a scheduler by one step, whether or not the optimizer has stepped."""
    schedule.step()
