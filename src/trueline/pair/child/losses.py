"""The loss of one side on given outputs and labels: its value and the gradient at the outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.guest.wire import Content
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array
from trueline.pair.child.host import Answer, Host
from trueline.pair.child.part_about import about
from trueline.pair.child.parts import made, refuse

# The whole numbers that each framework's own losses take as class indexes.
_INDEXES: Final = {"torch": np.int64, "mindspore": np.int32}


def answer_loss(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """Each of ``cases`` says how many of the arrays are outputs; the next one is its labels.

    A case's answer names its gradients in order, or why it failed; its value comes first among its arrays.
    """
    if "loss" not in host.kept:
        host.kept["loss"] = _checked(host, made(host, "loss"))
    loss = host.kept["loss"]
    remaining = iter(arrays)
    told: list[dict[str, Any]] = []
    given: list[Array] = []
    for count in content["cases"]:
        outputs = [next(remaining) for _ in range(count)]
        labels = next(remaining)
        try:
            value, gradients = _pulled(host, loss, outputs, labels)
        except SideTrouble as trouble:
            told.append({"failed": {"id": trouble.message.id, "params": dict(trouble.message.params)}})
            continue
        told.append({"gradients": [one is not None for one in gradients]})
        given += [value, *(one for one in gradients if one is not None)]
    return {"cases": told, "about": about(host, "loss", loss)}, given


def as_labels(host: Host, labels: Array) -> Array:
    """Class indexes as the framework's own functions take them."""
    return labels.astype(_INDEXES[host.adapter.name]) if labels.dtype.kind in "iu" else labels


def _checked(host: Host, loss: Any) -> Callable[..., Any]:
    if not callable(loss):
        raise refuse(host, "loss", loss, "callable(output, labels)")
    return loss  # type: ignore[no-any-return]


def _pulled(
    host: Host, loss: Callable[..., Any], outputs: Sequence[Array], labels: Array
) -> tuple[Array, Sequence[Array | None]]:
    values = host.adapter.values
    target = values.from_numpy(as_labels(host, labels))

    def run(*tensors: Any) -> Any:
        found = loss(tensors[0] if len(tensors) == 1 else tensors, target)
        first = next((one for _, one in leaves(found, values.is_tensor)), None)
        if first is None:
            raise refuse(host, "loss", found, "tensor")
        return first

    with said_for(host.side, "loss"), host.adapter.build.undisturbed(host.model, False):
        tensors = [values.from_numpy(one) for one in outputs]
        pulled = host.adapter.autograd.vjp(run, tensors, (), lambda found: [np.ones_like(one) for one in found])
        return pulled.outputs[0], pulled.gin
