"""A few steps of training on given batches: the losses; the model is afterwards as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from typing import Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.nouns import Value
from trueline.kernel.array import Array
from trueline.pair.child.calls import held_still, tensors_of
from trueline.pair.child.host import Host
from trueline.pair.child.losses import as_labels, checked_loss, first_tensor, ones
from trueline.pair.child.op_rounding import Rounding, move_outputs
from trueline.pair.child.optimizing import optimizer_of, weights_put_back
from trueline.pair.child.parts import made, value_of
from trueline.pair.child.running import NoHooks
from trueline.pair.child.schedules import optim_of, schedule_of
from trueline.pair.questions.parts import Train

# Without an optimizer of the user's.
_RATE: Final = 0.01
_STEPS_PER_EPOCH: Final = 10
Gradients = Sequence[Array | None]


def train(host: Host, question: Train) -> list[float]:
    """The losses, step by step."""
    losses: list[float] = []
    with (
        said_for(host.side, "running"),
        weights_put_back(host),
        held_still(host, train=True),
        _moved(host, question),
    ):
        optim = optim_of(host)
        tensors = [tensor.value for tensor in host.adapter.values.tensors(host.model) if tensor.trainable]
        trained = list({id(tensor): tensor for tensor in tensors}.values())
        own = question.optimizer
        optimizer = optimizer_of(host) if own else optim.plain_sgd(trained, _RATE)
        steps_per_epoch = value_of(host, "steps_per_epoch") or _STEPS_PER_EPOCH
        schedule = schedule_of(host, optimizer, steps_per_epoch) if own else None
        if schedule is not None:
            schedule.begin()
        pull = _with_loss(host, trained) if question.loss else _without_loss(host, trained)
        for step, batch in enumerate(islice(cycle(question.batches), question.steps)):
            loss, gradients = pull(batch)
            losses.append(loss)
            given = {id(tensor): grad for tensor, grad in zip(trained, gradients, strict=True) if grad is not None}
            optim.step(optimizer, given)
            if schedule is not None:
                schedule.after(step)
    return losses


@contextmanager
def _moved(host: Host, question: Train) -> Iterator[None]:
    """With a seed every rounding could as well have gone the other way."""
    if question.perturbed is None:
        yield
        return
    if question.operators:
        rounding = Rounding(question.perturbed)
        with host.adapter.ops.watch(lambda call: move_outputs(host.adapter, call, rounding.moved)):
            yield
        return
    perturbing = host.adapter.perturb.install(question.perturbed, NoHooks, ulps=question.ulps)
    try:
        yield
    finally:
        perturbing.remove()


def _with_loss(host: Host, trained: Sequence[Value]) -> Callable[[Sequence[Array]], tuple[float, Gradients]]:
    """The user's loss of the model's output and the labels."""
    values = host.adapter.values
    loss = checked_loss(host, made(host, "loss"))

    def pull(batch: Sequence[Array]) -> tuple[float, Gradients]:
        *inputs, labels = batch
        target = values.from_numpy(as_labels(host, labels))

        def run(*tensors: Value) -> Value:
            return first_tensor(host, loss(host.model(*tensors), target))

        pulled = host.adapter.autograd.vjp(run, tensors_of(host, inputs), trained, ones)
        return float(np.mean(pulled.outputs[0])), pulled.grads

    return pull


def _without_loss(host: Host, trained: Sequence[Value]) -> Callable[[Sequence[Array]], tuple[float, Gradients]]:
    """Half the mean square of every output, all of them added up."""

    def pull(batch: Sequence[Array]) -> tuple[float, Gradients]:
        pulled = host.adapter.autograd.vjp(
            lambda *tensors: host.model(*tensors),
            tensors_of(host, batch),
            trained,
            lambda outputs: [output / output.size for output in outputs],
        )
        wide = [output.astype(np.float64) for output in pulled.outputs if "float" in output.dtype.name]
        return float(sum(np.mean(output * output) / 2 for output in wide)), pulled.grads

    return pull
