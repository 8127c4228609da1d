"""Vector-Jacobian products of a single function."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack

import mindspore as ms

from trueline.adapters.mindspore import values
from trueline.adapters.mindspore.internals import pynative
from trueline.adapters.nouns import Function, Gout, Pulled, Value
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array


def without_gradient() -> AbstractContextManager[None]:
    """No operator in this block is recorded for gradients."""
    return values.without_gradient()


class _WithGradient:
    """Enables gradients, also inside a block that disables them."""

    def __enter__(self) -> None:
        self._before = bool(pynative.enable_grad())
        if not self._before:
            pynative.set_enable_grad(True)

    def __exit__(self, *_: object) -> None:
        if not self._before:
            pynative.set_enable_grad(False)


def vjp(function: Function, inputs: Sequence[Value], parameters: Sequence[Value], gout: Gout) -> Pulled:
    """Run ``function`` on the inputs and pull ``gout`` (one per floating output) back to inputs and parameters."""
    arrays: list[Array] = []
    results: list[Value] = []

    # The gradient of sum(output * gout) at an output is exactly its gout.
    def weighted(*tensors: object) -> Value:
        result = function(*tensors)
        results.append(result)
        outputs = [tensor for _, tensor in leaves(result, values.is_tensor)]
        arrays.extend(values.to_numpy(tensor) for tensor in outputs)
        floating = [place for place, tensor in enumerate(outputs) if _is_float(tensor)]
        wished = gout([arrays[place] for place in floating]) if callable(gout) else gout
        parts = [
            (outputs[place] * values.from_numpy(grad, like=outputs[place])).sum()
            for place, grad in zip(floating, wished, strict=False)
            if grad is not None
        ]
        if not parts:
            return ms.Tensor(0.0)
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return total

    places = tuple(place for place, tensor in enumerate(inputs) if _is_float(tensor))
    weights = list({id(parameter): parameter for parameter in parameters if parameter.requires_grad}.values())
    if not places and not weights:
        weighted(*inputs)
        return Pulled(arrays, [None] * len(inputs), [None] * len(parameters), results[0])
    with _WithGradient(), ExitStack() as undoing:
        # What a function that raised has begun to record would spoil whatever runs next.
        undoing.callback(pynative.clear_res)
        gradients = ms.grad(weighted, places or None, weights or None)(*inputs)
        undoing.pop_all()
    at_inputs, at_weights = _split(gradients, bool(places), bool(weights))
    by_place = dict(zip(places, at_inputs, strict=True))
    by_weight = {id(weight): values.to_numpy(grad) for weight, grad in zip(weights, at_weights, strict=True)}
    gin = [values.to_numpy(by_place[place]) if place in by_place else None for place in range(len(inputs))]
    return Pulled(arrays, gin, [by_weight.get(id(parameter)) for parameter in parameters], results[0])


def _is_float(tensor: Value) -> bool:
    return "float" in values.dtype(tensor)


def _split(gradients: Value, places: bool, weights: bool) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """``ms.grad`` returns one level of tuples less where only one gradient was requested."""
    inputs, parameters = gradients if places and weights else (gradients, ()) if places else ((), gradients)
    as_tuple = tuple(part if isinstance(part, tuple) else (part,) for part in (inputs, parameters))
    return as_tuple[0], as_tuple[1]
