"""An optimizer's parameter groups, with the learning rate of the coming step."""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore import nn

from trueline.adapters.nouns import Foreign, Group, Optimizer, Value

_SETTINGS = (
    "momentum",
    "dampening",
    "nesterov",
    "use_nesterov",
    "beta1",
    "beta2",
    "eps",
    "epsilon",
    "rho",
    "decay",
    "loss_scale",
    "use_amsgrad",
    "grad_centralization",
)
_PLAIN = (bool, int, float, str)


def groups(optimizer: Optimizer) -> list[Group]:
    """The parameter groups with their plain settings."""
    if hasattr(optimizer, "param_groups"):
        return [
            Group(
                {name: plain for name, value in group.items() if (plain := _plain(value)) is not None},
                list(group["params"]),
            )
            for group in optimizer.param_groups
        ]
    return _groups_of_cell(optimizer)


def _groups_of_cell(optimizer: Optimizer) -> list[Group]:
    common = {name: plain for name in _SETTINGS if (plain := _plain(getattr(optimizer, name, None))) is not None}
    parameters = list(optimizer.parameters)
    rates = list(optimizer.group_lr) if optimizer.is_group_lr else [optimizer.learning_rate] * len(parameters)
    decays = list(optimizer.group_weight_decay) if optimizer.is_group else [optimizer.weight_decay] * len(parameters)
    merged: dict[tuple[int, float], tuple[Foreign, Foreign, list[Value]]] = {}
    for parameter, rate, decay in zip(parameters, rates, decays, strict=True):
        key = (id(rate), decay if isinstance(decay, float) else id(decay))
        merged.setdefault(key, (rate, decay, []))[2].append(parameter)
    return [
        Group({"lr": rate_now(optimizer, rate), "weight_decay": _at_step(optimizer, decay), **common}, members)
        for rate, decay, members in merged.values()
    ]


def rate_now(optimizer: Optimizer, rate: Foreign) -> float | None:
    """The value of a rate, a list of rates or a schedule at the coming step."""
    listed = getattr(rate, "learning_rate", None) if isinstance(rate, nn.Cell) else None
    if isinstance(listed, ms.Parameter) and listed.ndim == 1:
        values = listed.asnumpy()
        return short(values[min(steps_done(optimizer), len(values) - 1)])
    return _at_step(optimizer, rate)


def _at_step(optimizer: Optimizer, value: Value) -> float | None:
    if isinstance(value, nn.Cell):
        # Not a call of the cell: in graph mode that would compile a graph only to look.
        value = value.construct(ms.Tensor([steps_done(optimizer)], ms.int32))
    plain = _plain(value)
    return float(plain) if isinstance(plain, int | float) else None


def steps_done(optimizer: Optimizer) -> int:
    """The optimizer's step counter."""
    return int(optimizer.global_step.asnumpy().reshape(-1)[0])


def is_fresh(optimizer: Optimizer) -> bool:
    """Whether an optimizer has made no update yet."""
    if hasattr(optimizer, "param_groups"):
        counter = getattr(optimizer, "state_step", None)
        return not getattr(optimizer, "state", None) and not (
            isinstance(counter, ms.Tensor) and counter.asnumpy().any()
        )
    return steps_done(optimizer) == 0


def _plain(value: Value) -> Value:
    if isinstance(value, ms.Tensor):
        return short(value.asnumpy().reshape(-1)[0]) if value.size == 1 else None
    return value if isinstance(value, _PLAIN) else None


def short(value: Value) -> float:
    """The shortest decimal that rounds to this number in its own precision: 0.1, as the user wrote it."""
    return float(str(value)) if isinstance(value, np.floating) else float(value)
