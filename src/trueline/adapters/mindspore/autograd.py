"""Vector-Jacobian products of a single function."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack

import mindspore as ms

from trueline.adapters.mindspore import values
from trueline.adapters.mindspore.internals import GRADIENT_FORWARD, pulled_back, pynative
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
    running = _Running(function, gout)
    places = tuple(place for place, tensor in enumerate(inputs) if _is_float(tensor))
    weights = list({id(parameter): parameter for parameter in parameters if parameter.requires_grad}.values())
    if not places and not weights:
        running.chosen(*inputs)
        return Pulled(running.arrays, [None] * len(inputs), [None] * len(parameters), running.result)
    with _WithGradient(), ExitStack() as undoing:
        # What a function that raised has begun to record would spoil whatever runs next.
        undoing.callback(pynative.clear_res)
        gradients = _gradients(running, tuple(inputs), places, weights)
        undoing.pop_all()
    at_inputs, at_weights = _split(gradients, bool(places), bool(weights))
    by_place = dict(zip(places, at_inputs, strict=True))
    by_weight = {id(weight): values.to_numpy(grad) for weight, grad in zip(weights, at_weights, strict=True)}
    gin = [values.to_numpy(by_place[place]) if place in by_place else None for place in range(len(inputs))]
    return Pulled(running.arrays, gin, [by_weight.get(id(parameter)) for parameter in parameters], running.result)


class _Running:
    """A function run once: what it gave, and which of it has a gradient."""

    def __init__(self, function: Function, gout: Gout) -> None:
        self._function, self._gout = function, gout
        self.result: Value = None
        self.arrays: list[Array] = []
        self.gout: list[Value] = []

    def chosen(self, *inputs: Value) -> tuple[Value, ...]:
        """The outputs at which there is a gradient."""
        self.result = self._function(*inputs)
        outputs = [tensor for _, tensor in leaves(self.result, values.is_tensor)]
        self.arrays = [values.to_numpy(tensor) for tensor in outputs]
        floating = [place for place, tensor in enumerate(outputs) if _is_float(tensor)]
        wished = self._gout([self.arrays[place] for place in floating]) if callable(self._gout) else self._gout
        given = [(outputs[place], grad) for place, grad in zip(floating, wished, strict=False) if grad is not None]
        self.gout = [values.from_numpy(grad, like=output) for output, grad in given]
        return tuple(output for output, _ in given)

    def one_or_all(self, *inputs: Value) -> Value:
        """The same, a single one by itself, and a number that has no gradient where there is none."""
        return _one_or_all(self.chosen(*inputs))

    def weighted(self, *inputs: Value) -> Value:
        """A number whose gradient at each of these outputs is the one that is given there."""
        parts = [(output * grad).sum() for output, grad in zip(self.chosen(*inputs), self.gout, strict=True)]
        return sum(parts[1:], parts[0]) if parts else ms.Tensor(0.0)


def _gradients(running: _Running, inputs: tuple[Value, ...], places: tuple[int, ...], weights: list[Value]) -> Value:
    if GRADIENT_FORWARD is None:
        return ms.grad(running.weighted, places or None, weights or None)(*inputs)
    listed = ms.ParameterTuple(weights) if weights else None
    GRADIENT_FORWARD(running.one_or_all, *inputs)
    return pulled_back(running.one_or_all, inputs, places, listed, _one_or_all(tuple(running.gout)))


def _one_or_all(tensors: tuple[Value, ...]) -> Value:
    return tensors if len(tensors) > 1 else tensors[0] if tensors else ms.Tensor(0.0)


def _is_float(tensor: Value) -> bool:
    return "float" in values.dtype(tensor)


def _split(gradients: Value, places: bool, weights: bool) -> tuple[tuple[Value, ...], tuple[Value, ...]]:
    """``ms.grad`` returns one level of tuples less where only one gradient was requested."""
    inputs, parameters = gradients if places and weights else (gradients, ()) if places else ((), gradients)
    as_tuple = tuple(part if isinstance(part, tuple) else (part,) for part in (inputs, parameters))
    return as_tuple[0], as_tuple[1]
