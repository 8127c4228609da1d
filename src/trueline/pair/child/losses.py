"""The loss of one side on given outputs and labels: its value and the gradient at the outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.nouns import Value
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array
from trueline.pair.child.host import Host, UserObject
from trueline.pair.child.part_about import about
from trueline.pair.child.parts import made_once, refuse
from trueline.pair.questions.parts import Loss, LossAnswers, LossValue, Refused

# The whole numbers that each framework's own losses take as class indexes.
_INDEXES: Final = {"torch": np.int64, "mindspore": np.int32}


def compute_losses(host: Host, question: Loss) -> LossAnswers:
    """The loss of each case and its gradients, or why it failed."""
    loss = checked_loss(host, made_once(host, "loss"))
    answers: list[LossValue | Refused] = []
    for case in question.cases:
        try:
            answers.append(_pulled(host, loss, case.outputs, case.labels))
        except SideTrouble as trouble:
            answers.append(Refused(trouble.message.id, trouble.message.params))
    return LossAnswers(answers, about(host, "loss", loss))


def as_labels(host: Host, labels: Array) -> Array:
    """Class indexes as the framework's own functions take them."""
    return labels.astype(_INDEXES[host.adapter.name]) if labels.dtype.kind in "iu" else labels


def checked_loss(host: Host, loss: UserObject) -> Callable[..., Value]:
    """What can be called with outputs and labels; else a trouble."""
    if not callable(loss):
        raise refuse(host, "loss", loss, "callable(output, labels)")
    found: Callable[..., Value] = loss
    return found


def first_tensor(host: Host, result: Value) -> Value:
    """The loss itself in what the user's function gave."""
    first = next((tensor for _, tensor in leaves(result, host.adapter.values.is_tensor)), None)
    if first is None:
        raise refuse(host, "loss", result, "tensor")
    return first


def ones(outputs: Sequence[Array]) -> list[Array]:
    """The gradient that a loss is pulled back from."""
    return [np.ones_like(output) for output in outputs]


def _pulled(host: Host, loss: Callable[..., Value], outputs: Sequence[Array], labels: Array) -> LossValue:
    values = host.adapter.values
    target = values.from_numpy(as_labels(host, labels))

    def run(*tensors: Value) -> Value:
        return first_tensor(host, loss(tensors[0] if len(tensors) == 1 else tensors, target))

    with said_for(host.side, "loss"), host.adapter.build.undisturbed(host.model, False):
        tensors = [values.from_numpy(output) for output in outputs]
        pulled = host.adapter.autograd.vjp(run, tensors, (), ones)
        return LossValue(pulled.outputs[0], pulled.gin)
