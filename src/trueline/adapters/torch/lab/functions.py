"""Functions and Tensor methods of torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from trueline.adapters.lab.answers import outputs_of
from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.cotangent import cotangent
from trueline.adapters.lab.names import resolve
from trueline.adapters.torch.lab.values import Values, answering, to_array
from trueline.kernel.array import Array


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """Call a function, or a method of its first argument."""
    values = Values(arrays, gradient=call.gradient, double=call.double)
    args = [values.value(spec) for spec in call.args]
    kwargs = {name: values.value(spec) for name, spec in call.kwargs.items()}
    torch.manual_seed(0)
    result = _called(call, args, kwargs)
    parts = list(outputs_of(result, torch.Tensor))
    gradients = _gradients(values, [value for form, value in parts if form == "tensor"]) if call.gradient else {}
    return Answer([to_array(part[1]) for part in parts], [form for form, _ in parts], gradients)


def _called(call: Call, args: list[Any], kwargs: dict[str, Any]) -> Any:
    word = call.name.rpartition(".")[2]
    if call.gradient and word.endswith("_") and not word.endswith("__") and args:
        # A leaf that wants a gradient may not be written to.
        args[0] = args[0].clone()
    if call.kind == "method":
        member = getattr(args[0], word)
        return member(*args[1:], **kwargs) if callable(member) else member
    return resolve(call.name)(*args, **kwargs)


def _gradients(values: Values, outputs: list[torch.Tensor]) -> dict[str, Array]:
    """The gradients of all float tensors for the outputs times fixed numbers, added up."""
    flowing = [output for output in outputs if output.requires_grad]
    leaves = {index: tensor for index, tensor in values.tensors.items() if tensor.requires_grad}
    if not flowing or not leaves:
        return {}
    weights = [torch.from_numpy(cotangent(tuple(output.shape))).to(output.dtype) for output in flowing]
    found_gradients = torch.autograd.grad(flowing, list(leaves.values()), weights, allow_unused=True)
    return {
        str(index): np.array(gradient.detach().to_dense().resolve_conj().numpy(), copy=True)
        for index, gradient in zip(leaves, found_gradients, strict=True)
        if gradient is not None and gradient.dtype is not torch.bfloat16
    }
