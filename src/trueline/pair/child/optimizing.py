"""The side's optimizer by itself: what it makes of given gradients, and the rates it would step with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.wire import Content
from trueline.adapters.nouns import Group
from trueline.adapters.protocol import Values
from trueline.kernel.array import Array
from trueline.pair.child.checkpoints import kept_by
from trueline.pair.child.host import Answer, Host
from trueline.pair.child.parts import made, part, refuse
from trueline.pair.child.schedules import optim_of, schedule_of, telling_steps

_EPOCHS: Final = 10
_STEPS_PER_EPOCH: Final = 10


def optimizer_of(host: Host) -> Any:
    """A fresh optimizer of the user's over the model."""
    found = made(host, "optimizer", host.model)
    if not optim_of(host).is_optimizer(found):
        raise refuse(host, "optimizer", found, "optimizer")
    return found


def answer_optimize(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """Steps from given weights with given gradients, each with the same rate for all parameters.

    ``names`` and ``counts`` are the parameters and how many of each one's first elements count; the weights lie one
    parameter after the other, and so do the gradients of each step. All other elements are zero. Back come the weights
    after each step.
    """
    names, counts, rates = content["names"], content["counts"], content["rates"]
    start, gradients = arrays
    with said_for(host.side, "optimizer"), weights_put_back(host):
        optimizer = optimizer_of(host)
        optim = optim_of(host)
        told = _told(host, optimizer, names)
        wanted = [place for place, group in enumerate(told["group_of"]) if group is not None]
        values = host.adapter.values
        kept = kept_by(host.adapter.name, host.model)
        cuts = np.cumsum([0, *counts])
        parameters = [kept[name] for name in names]
        for place, one in enumerate(parameters):
            values.assign(one, _spread(values, one, start[cuts[place] : cuts[place + 1]]))
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
            for place, one in enumerate(parameters):
                after[step, cuts[place] : cuts[place + 1]] = values.to_numpy(one).reshape(-1)[: counts[place]]
        return {**told, "followed": followed}, [after]


def answer_schedule(host: Host, content: Content, _: list[Array]) -> Answer:
    """The rates of each group over the whole training, and which group each of ``names`` is in.

    ``epochs`` and ``steps_per_epoch`` are the user's where they are not given.
    """
    with said_for(host.side, "schedule"):
        epochs = content["epochs"] or part(host, "epochs") or _EPOCHS
        steps_per_epoch = content["steps_per_epoch"] or part(host, "steps_per_epoch") or _STEPS_PER_EPOCH
        at = telling_steps(epochs, steps_per_epoch)
        optimizer = optimizer_of(host)
        told = _told(host, optimizer, content["names"])
        schedule = schedule_of(host, optimizer, steps_per_epoch)
        found = np.asarray(schedule.rates(at), np.float64)
        numbers = {"epochs": epochs, "steps_per_epoch": steps_per_epoch, "beside": schedule.given}
        return {**told, **numbers}, [np.asarray(at, np.int64), found]


def _told(host: Host, optimizer: Any, names: Sequence[str]) -> Content:
    """The optimizer's class, its groups' settings, and the group of each parameter; None where it is in none."""
    groups: list[Group] = optim_of(host).settings(optimizer)
    group_of = {id(one): place for place, group in enumerate(groups) for one in group.parameters}
    kept = kept_by(host.adapter.name, host.model)
    trainable = {id(one.value) for one in host.adapter.values.tensors(host.model) if one.trainable}
    kind = type(optimizer)
    built = host.adapter.build.built(optimizer) if host.adapter.values.is_module(optimizer) else None
    line = built.line if built is not None else None
    return {
        "line": line.line_json() if line is not None else None,
        "scheduled": part(host, "schedule") is not None or optim_of(host).dynamic(optimizer),
        "optimizer": f"{kind.__module__}.{kind.__qualname__}",
        "groups": [dict(one.settings) for one in groups],
        "group_of": [group_of.get(id(kept[name])) for name in names],
        "trainable": [id(kept[name]) in trainable for name in names],
    }


def _spread(values: Values, parameter: Any, first: Array) -> Array:
    """An array of the parameter's shape: the given elements, then zeros."""
    shape = values.shape(parameter)
    whole = np.zeros(int(np.prod(shape)), np.float32)
    whole[: len(first)] = first
    return whole.reshape(shape)


@contextmanager
def weights_put_back(host: Host) -> Iterator[None]:
    """Whatever happens to weights, statistics and gradients in this block is undone."""
    values = host.adapter.values
    before = [(one.value, values.to_numpy(one.value, copy=True)) for one in values.tensors(host.model)]
    try:
        yield
    finally:
        for tensor, array in before:
            values.assign(tensor, array)
