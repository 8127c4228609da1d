"""Vector-Jacobian products of a single function."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager

import torch

from trueline.adapters.nouns import Function, Gout, Pulled, Value
from trueline.adapters.torch import values
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array


def without_gradient() -> AbstractContextManager[None]:
    """No operator in this block is recorded for gradients."""
    block: AbstractContextManager[None] = torch.no_grad()
    return block


def vjp(function: Function, inputs: Sequence[Value], parameters: Sequence[Value], gout: Gout) -> Pulled:
    """Run ``function`` on the inputs and pull ``gout`` (one per floating output) back to inputs and parameters."""
    with torch.enable_grad():
        given = [tensor.detach() for tensor in inputs]
        for tensor in given:
            if tensor.is_floating_point():
                tensor.requires_grad_()
        # A copy: what is rewritten in place must not be a leaf, nor what was given.
        result = function(*[tensor.clone() if tensor.requires_grad else tensor for tensor in given])
        outputs = [tensor for _, tensor in leaves(result, torch.is_tensor)]
        arrays = [values.to_numpy(tensor) for tensor in outputs]
        floating = [place for place, tensor in enumerate(outputs) if tensor.is_floating_point()]
        wished = gout([arrays[place] for place in floating]) if callable(gout) else gout
        pulled = [
            (outputs[place], values.from_numpy(grad, like=outputs[place]))
            for place, grad in zip(floating, wished, strict=False)
            if grad is not None and outputs[place].requires_grad
        ]
        wanted = [tensor for tensor in (*given, *parameters) if tensor.requires_grad]
        gradients_found: Sequence[Value] = ()
        if pulled and wanted:
            gradients_found = torch.autograd.grad(
                [output for output, _ in pulled], wanted, [grad for _, grad in pulled], allow_unused=True
            )
    by_id = {id(tensor): grad for tensor, grad in zip(wanted, gradients_found, strict=False)}
    gradients = [_array(by_id.get(id(tensor))) for tensor in (*given, *parameters)]
    return Pulled(arrays, gradients[: len(given)], gradients[len(given) :], result)


def _array(tensor: Value) -> Array | None:
    return None if tensor is None else values.to_numpy(tensor)
