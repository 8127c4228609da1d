"""The side's optimizer by itself: what it makes of given gradients, and the rates it would step with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.nouns import Group, Optimizer, Value
from trueline.adapters.protocol import Values
from trueline.kernel.array import Array
from trueline.pair.child.checkpoints import kept_by
from trueline.pair.child.host import Host
from trueline.pair.child.parts import made, refuse, value_of
from trueline.pair.child.schedules import optim_of, sampled_steps, schedule_of
from trueline.pair.questions.parts import Optimize, OptimizedWeights, OptimizerAbout, Schedule, ScheduledRates

_EPOCHS: Final = 10
_STEPS_PER_EPOCH: Final = 10


def optimizer_of(host: Host) -> Optimizer:
    """A fresh optimizer of the user's over the model."""
    optimizer = made(host, "optimizer", host.model)
    if not optim_of(host).is_optimizer(optimizer):
        raise refuse(host, "optimizer", optimizer, "optimizer")
    return optimizer


def optimize(host: Host, question: Optimize) -> OptimizedWeights:
    """The weights after each step."""
    names, counts, rates = question.names, question.counts, question.rates
    start, gradients = question.weights, question.gradients
    with said_for(host.side, "optimizer"), weights_put_back(host):
        optimizer = optimizer_of(host)
        optim = optim_of(host)
        about = _about(host, optimizer, names)
        wanted = [place for place, group in enumerate(about.group_of) if group is not None]
        values = host.adapter.values
        kept = kept_by(host.adapter.name, host.model)
        cuts = np.cumsum([0, *counts])
        parameters = [kept[name] for name in names]
        for place, parameter in enumerate(parameters):
            values.assign(parameter, _spread(values, parameter, start[cuts[place] : cuts[place + 1]]))
        after = np.empty((len(rates), int(cuts[-1])), np.float64)
        followed = True
        for step, rate in enumerate(rates):
            followed = bool(optim.use_rate(optimizer, rate)) and followed
            given = {
                id(parameters[place]): _spread(
                    values, parameters[place], gradients[step, cuts[place] : cuts[place + 1]]
                )
                for place in wanted
            }
            optim.step(optimizer, given)
            for place, parameter in enumerate(parameters):
                after[step, cuts[place] : cuts[place + 1]] = values.to_numpy(parameter).reshape(-1)[: counts[place]]
        return OptimizedWeights(about, after, followed)


def scheduled_rates(host: Host, question: Schedule) -> ScheduledRates:
    """The rates of each group over the whole training."""
    with said_for(host.side, "schedule"):
        epochs = question.epochs or value_of(host, "epochs") or _EPOCHS
        steps_per_epoch = question.steps_per_epoch or value_of(host, "steps_per_epoch") or _STEPS_PER_EPOCH
        steps = sampled_steps(epochs, steps_per_epoch)
        optimizer = optimizer_of(host)
        about = _about(host, optimizer, question.names)
        schedule = schedule_of(host, optimizer, steps_per_epoch)
        rates = np.asarray(schedule.rates(steps), np.float64)
        return ScheduledRates(about, epochs, steps_per_epoch, schedule.given, np.asarray(steps, np.int64), rates)


def _about(host: Host, optimizer: Optimizer, names: Sequence[str]) -> OptimizerAbout:
    """The optimizer's class, its groups' settings, and the group of each parameter; None where it is in none."""
    groups: list[Group] = optim_of(host).settings(optimizer)
    group_of = {id(parameter): place for place, group in enumerate(groups) for parameter in group.parameters}
    kept = kept_by(host.adapter.name, host.model)
    trainable = {id(tensor.value) for tensor in host.adapter.values.tensors(host.model) if tensor.trainable}
    kind = type(optimizer)
    built = host.adapter.build.built(optimizer) if host.adapter.values.is_module(optimizer) else None
    return OptimizerAbout(
        type=f"{kind.__module__}.{kind.__qualname__}",
        line=built.line if built is not None else None,
        scheduled=value_of(host, "schedule") is not None or optim_of(host).dynamic(optimizer),
        groups=[group.settings for group in groups],
        group_of=[group_of.get(id(kept[name])) for name in names],
        trainable=[id(kept[name]) in trainable for name in names],
    )


def _spread(values: Values, parameter: Value, first: Array) -> Array:
    """An array of the parameter's shape: the given elements, then zeros."""
    shape = values.shape(parameter)
    whole = np.zeros(int(np.prod(shape)), np.float32)
    whole[: len(first)] = first
    return whole.reshape(shape)


@contextmanager
def weights_put_back(host: Host) -> Iterator[None]:
    """Whatever happens to weights, statistics and gradients in this block is undone."""
    values = host.adapter.values
    before = [(tensor.value, values.to_numpy(tensor.value, copy=True)) for tensor in values.tensors(host.model)]
    try:
        yield
    finally:
        for tensor, array in before:
            values.assign(tensor, array)
