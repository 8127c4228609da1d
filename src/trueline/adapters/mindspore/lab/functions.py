"""Functions and Tensor methods of MindSpore."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindspore
import numpy as np

from trueline.adapters.lab.answers import outputs_of
from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.cotangent import cotangent
from trueline.adapters.lab.names import resolve
from trueline.adapters.mindspore.lab.values import Values, answering, to_array
from trueline.kernel.array import Array


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """Call a function, or a method of its first argument."""
    mindspore.set_seed(1)
    if call.gradient:
        differentiable = [index for index, array in enumerate(arrays) if array.dtype.kind in "fc"]
        if differentiable:
            return _differentiated(call, arrays, differentiable)
    values = Values(arrays, double=call.double)
    parts = list(outputs_of(_called(call, values), mindspore.Tensor))
    return Answer([to_array(part[1]) for part in parts], [form for form, _ in parts])


def _called(call: Call, values: Values) -> Any:
    args = [values.value(spec) for spec in call.args]
    kwargs = {name: values.value(spec) for name, spec in call.kwargs.items()}
    if call.kind == "method":
        member = getattr(args[0], call.name.rpartition(".")[2])
        return member(*args[1:], **kwargs) if callable(member) else member
    return resolve(call.name)(*args, **kwargs)


def _differentiated(call: Call, arrays: Sequence[Array], differentiable: Sequence[int]) -> Answer:
    """Outputs, and the gradients of all float tensors for the outputs times fixed numbers, added up."""
    kept: list[tuple[str, Any]] = []
    in_place = call.name.endswith("_") and not call.name.endswith("__")

    def weighted(*tensors: mindspore.Tensor) -> mindspore.Tensor:
        values = Values(arrays, double=call.double)
        # What writes to its input is given a value of the computation.
        values.tensors.update(zip(differentiable, (t * 1 for t in tensors) if in_place else tensors, strict=True))
        kept[:] = outputs_of(_called(call, values), mindspore.Tensor)
        total = mindspore.Tensor(0.0, mindspore.float32)
        for form, value in kept:
            if form == "tensor" and value.dtype in mindspore_floats():
                weight = mindspore.Tensor(cotangent(tuple(value.shape))).astype(value.dtype)
                total = total + (value * weight).sum().astype(mindspore.float32)
        return total

    made = Values(arrays, double=call.double)
    for spec in _array_specs([*call.args, *call.kwargs.values()]):
        made.value(spec)
    tensors = [made.tensors.get(index, mindspore.Tensor(arrays[index])) for index in differentiable]
    gradients = mindspore.grad(weighted, grad_position=tuple(range(len(tensors))))(*tensors)
    gradients = gradients if isinstance(gradients, tuple) else (gradients,)
    return Answer(
        [to_array(part[1]) for part in kept],
        [form for form, _ in kept],
        {str(i): np.array(g.asnumpy(), copy=True) for i, g in zip(differentiable, gradients, strict=True)},
    )


def mindspore_floats() -> tuple[Any, ...]:
    """The types that gradients flow through."""
    return (mindspore.float32, mindspore.float16, mindspore.float64)


def _array_specs(spec: Any) -> Any:
    if isinstance(spec, list):
        for element in spec:
            yield from _array_specs(element)
    elif isinstance(spec, dict):
        if "array" in spec:
            yield spec
        elif "tuple" in spec:
            yield from _array_specs(spec["tuple"])
