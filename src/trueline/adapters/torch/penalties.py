"""Gradient penalties: whether gradients inside a loss are taken of a scaled loss, and unscaled again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

import torch

from trueline.adapters.nouns import Foreign, Function, Network, Value
from trueline.adapters.observer import Observer
from trueline.adapters.patching import Patches
from trueline.adapters.torch import values

# Bounds the walk from a loss to the gradients in it: a penalty is a few operators.
_MAX_NODES: Final = 512
_DIVIDING: Final = ("MulBackward0", "DivBackward0", "ForeachMulBackward0", "ForeachDivBackward0")


def watch(
    observer: Observer, is_reporting: Callable[[], bool], patches: Patches, is_scaled: Callable[[Value], bool]
) -> None:
    """Follow gradients taken with create_graph until the loss that contains them goes backward."""
    taken: deque[tuple[list[Foreign], bool]] = deque(maxlen=4)

    def make_grad(original: Function) -> Function:
        def grad(outputs: Value, *args: object, **kwargs: object) -> Value:
            result = original(outputs, *args, **kwargs)
            if is_reporting() and kwargs.get("create_graph"):
                first = outputs if values.is_tensor(outputs) else next(iter(outputs), None)
                nodes = [
                    gradient.grad_fn
                    for gradient in result
                    if values.is_tensor(gradient) and gradient.grad_fn is not None
                ]
                if nodes and values.is_tensor(first):
                    taken.append((nodes, is_scaled(first)))
            return result

        return grad

    def make_backward(original: Function) -> Function:
        def backward(tensors: Value, *args: object, **kwargs: object) -> Value:
            if taken and is_reporting():
                tensors = (tensors,) if values.is_tensor(tensors) else tuple(tensors)
                for loss in filter(values.is_tensor, tensors):
                    for nodes, scaled in taken:
                        uses = _uses(loss.grad_fn, set(nodes))
                        if uses:
                            observer.aside("penalty", scaled=scaled, divided=all(uses), uses=len(uses))
                taken.clear()
            return original(tensors, *args, **kwargs)

        return backward

    patches.wrap(torch.autograd, "grad", make_grad)
    patches.wrap(torch.autograd, "backward", make_backward)


def _uses(root: Network, nodes: set[Foreign]) -> list[bool]:
    """For each use of these nodes on the way to the root, whether it is multiplied or divided by something else."""
    divided: list[bool] = []
    seen: set[Foreign] = set()
    waiting = deque([root])
    while waiting and len(seen) < _MAX_NODES:
        user = waiting.popleft()
        if user is None or user in seen:
            continue
        seen.add(user)
        before = [node for node, _ in user.next_functions]
        hits = sum(node in nodes for node in before)
        if hits:
            divided.append(hits == 1 and user.name() in _DIVIDING)
        waiting.extend(node for node in before if node not in nodes)
    return divided
