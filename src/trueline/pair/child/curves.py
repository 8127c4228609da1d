"""A few steps of training on given batches: the losses; the model is afterwards as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle, islice
from typing import Any, Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.wire import Content
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array
from trueline.pair.child.calls import held_still, tensors_of
from trueline.pair.child.host import Answer, Host
from trueline.pair.child.losses import as_labels
from trueline.pair.child.optimizing import optimizer_of, weights_put_back
from trueline.pair.child.parts import made, part, refuse
from trueline.pair.child.running import NoHooks
from trueline.pair.child.schedules import optim_of, schedule_of

# Without an optimizer of the user's.
_RATE: Final = 0.01
_STEPS_PER_EPOCH: Final = 10
Gradients = Sequence[Array | None]


def answer_train(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """The losses of ``steps`` steps; ``batches`` says how many arrays each has, the last being labels with ``loss``.

    ``optimizer`` says whether the user's is to be used; ``perturbed`` is a seed, by which layers are then moved.
    """
    batches = list(_batches(arrays, content["batches"]))
    losses: list[float] = []
    with (
        said_for(host.side, "running"),
        weights_put_back(host),
        held_still(host, train=True),
        _moved(host, content["perturbed"], content["ulps"]),
    ):
        optim = optim_of(host)
        trained = [one.value for one in host.adapter.values.tensors(host.model) if one.trainable]
        trained = list({id(one): one for one in trained}.values())
        own = content["optimizer"]
        optimizer = optimizer_of(host) if own else optim.plain_sgd(trained, _RATE)
        steps_per_epoch = part(host, "steps_per_epoch") or _STEPS_PER_EPOCH
        schedule = schedule_of(host, optimizer, steps_per_epoch) if own else None
        if schedule is not None:
            schedule.begin()
        pull = _with_loss(host, trained) if content["loss"] else _without_loss(host, trained)
        for step, batch in enumerate(islice(cycle(batches), content["steps"])):
            loss, gradients = pull(batch)
            losses.append(loss)
            given = {id(one): grad for one, grad in zip(trained, gradients, strict=True) if grad is not None}
            optim.step(optimizer, given)
            if schedule is not None:
                schedule.after(step)
    return {}, [np.asarray(losses, np.float64)]


def _batches(arrays: Sequence[Array], counts: Sequence[int]) -> Iterator[list[Array]]:
    remaining = iter(arrays)
    for count in counts:
        yield list(islice(remaining, count))


@contextmanager
def _moved(host: Host, seed: int | None, ulps: int) -> Iterator[None]:
    """With a seed every rounding could as well have gone the other way."""
    if seed is None:
        yield
        return
    perturbing = host.adapter.perturb.install(seed, NoHooks, ulps=ulps)
    try:
        yield
    finally:
        perturbing.remove()


def _with_loss(host: Host, trained: Sequence[Any]) -> Callable[[Sequence[Array]], tuple[float, Gradients]]:
    """The user's loss of the model's output and the labels."""
    values = host.adapter.values
    loss = made(host, "loss")
    if not callable(loss):
        raise refuse(host, "loss", loss, "callable(output, labels)")

    def pull(batch: Sequence[Array]) -> tuple[float, Gradients]:
        *inputs, labels = batch
        target = values.from_numpy(as_labels(host, labels))

        def run(*tensors: Any) -> Any:
            found = loss(host.model(*tensors), target)
            first = next((one for _, one in leaves(found, values.is_tensor)), None)
            if first is None:
                raise refuse(host, "loss", found, "tensor")
            return first

        pulled = host.adapter.autograd.vjp(
            run, tensors_of(host, inputs), trained, lambda found: [np.ones_like(one) for one in found]
        )
        return float(np.mean(pulled.outputs[0])), pulled.grads

    return pull


def _without_loss(host: Host, trained: Sequence[Any]) -> Callable[[Sequence[Array]], tuple[float, Gradients]]:
    """Half the mean square of every output, all of them added up."""

    def pull(batch: Sequence[Array]) -> tuple[float, Gradients]:
        pulled = host.adapter.autograd.vjp(
            lambda *tensors: host.model(*tensors),
            tensors_of(host, batch),
            trained,
            lambda found: [one / one.size for one in found],
        )
        wide = [one.astype(np.float64) for one in pulled.outputs if "float" in one.dtype.name]
        return float(sum(np.mean(one * one) / 2 for one in wide)), pulled.grads

    return pull
