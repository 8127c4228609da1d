"""Gradients against finite differences: whether a backward that someone wrote belongs to its forward."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.nouns import Network, Value
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.model.trouble import Trouble
from trueline.pair.child.block import Block, block_of
from trueline.pair.child.calls import Counting, held_still, paths_of, tensors_of
from trueline.pair.child.gradient_flow import GradientFlow, flow_of
from trueline.pair.child.host import Host
from trueline.pair.child.templates import Template
from trueline.pair.questions.blocks import CustomBackward, CustomBackwards, MeasureSlopes, Slopes

_DIRECTIONS: Final = 3
# A direction that crosses a kink is drawn again, so often.
_MAX_DRAWS: Final = 8
# Of a module with more parameters only its own are checked, not those of the layers in it.
_MAX_PARAMETERS: Final = 8
# Steps relative to a tensor's own size; a second, half as long, must lead to the same slope up to this share.
_STEP: Final = {"float64": 1e-5, "float32": 1e-2}
_AGREE: Final = {"float64": 1e-3, "float32": 2e-2}


def measure_slopes(host: Host, question: MeasureSlopes) -> list[Slopes]:
    """The slopes of one call along random directions, by its gradients and measured."""
    with said_for(host.side, "running"), held_still(host, train=question.train):
        block = block_of(host, question.block)
        return _measured(host, block.module, block.template, block.inputs)


def custom_backwards(host: Host, question: CustomBackwards) -> list[CustomBackward]:
    """The calls with a backward of the user's own in one run of the whole model, each measured."""
    with said_for(host.side, "running"), held_still(host, train=question.train):
        looking = _Looking(host)
        if not looking.worth_it(host):
            return []
        with host.adapter.intercept.intercept(looking.around):
            host.adapter.autograd.vjp(
                lambda *given: host.model(*given), tensors_of(host, question.inputs), looking.parameters, []
            )
        return [
            CustomBackward(
                call.path,
                call.call,
                call.name,
                call.line,
                call.inputs,
                _measured(host, call.module, call.template, call.inputs),
            )
            for call in looking.customs
        ]


@dataclass(frozen=True, slots=True)
class _Custom:
    path: str
    call: int
    module: Network
    name: str
    line: Location | None
    template: Template
    inputs: Sequence[Array]


class _Looking:
    """Walks the autograd nodes that each call has added: inner calls end first, so each node is one module's."""

    def __init__(self, host: Host) -> None:
        self._values = host.adapter.values
        self._flow: GradientFlow = flow_of(host.adapter.name)
        self._counting = Counting(paths_of(host))
        self._walked: set[object] = set()
        trained = (tensor for tensor in self._values.tensors(host.model) if tensor.trainable and not tensor.buffer)
        self.parameters = [tensor.value for tensor in trained]
        self.customs: list[_Custom] = []

    def worth_it(self, host: Host) -> bool:
        """Whether the user has written any backward at all."""
        written = any(self._flow.written_backward(module) is not None for _, module in self._values.modules(host.model))
        return written or self._flow.functions_written()

    def around(
        self, module: Network, args: tuple[Value, ...], kwargs: Mapping[str, Value], proceed: Callable[..., Value]
    ) -> Value:
        """One call."""
        begun = self._counting.begin(module)
        if begun is None:
            return proceed(*args, **kwargs)
        output = proceed(*args, **kwargs)
        made = self._custom_node(output)
        written = self._flow.written_backward(module) or made
        if written is not None:
            given = [tensor for _, tensor in leaves((args, kwargs), self._values.is_tensor)]
            inputs = [self._values.to_numpy(tensor, copy=True) for tensor in given]
            template = Template.of(args, kwargs, self._values.is_tensor)
            self.customs.append(_Custom(*begun, module, *written, template, inputs))
        return output

    def _custom_node(self, output: Value) -> tuple[str, Location | None] | None:
        custom: tuple[str, Location | None] | None = None
        waiting = [self._values.node(tensor) for _, tensor in leaves(output, self._values.is_tensor)]
        while waiting:
            node = waiting.pop()
            if node is None or node in self._walked:
                continue
            self._walked.add(node)
            custom = custom or self._flow.custom(node)
            waiting.extend(self._values.nodes_before(node))
        return custom


def _measured(host: Host, module: Network, template: Template | None, inputs: Sequence[Array]) -> list[Slopes]:
    """In float64 where the side can, else as it is."""
    wide = flow_of(host.adapter.name).widened(module)
    if wide is not None:
        try:
            return _Measuring(host, wide, template, [_wide(array) for array in inputs], "float64").measured()
        except (RuntimeError, TypeError, ValueError, Trouble):
            # Code with a dtype of its own does not run in another.
            pass
    return _Measuring(host, module, template, inputs, "float32").measured()


def _wide(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype.kind == "f" else array


class _Measuring:
    def __init__(
        self, host: Host, module: Network, template: Template | None, inputs: Sequence[Array], dtype: str
    ) -> None:
        self._block = Block(host, module, template, inputs, ())
        self._adapter, self._values, self._dtype = host.adapter, host.adapter.values, dtype
        self._inputs, self._random = list(inputs), np.random.default_rng(0)
        tensors = (tensor for tensor in self._values.tensors(module) if tensor.trainable and not tensor.buffer)
        trained = {tensor.name: tensor.value for tensor in tensors}
        # Of a block with many layers only what is its own: the layers are judged by themselves.
        many = len(trained) > _MAX_PARAMETERS
        self._parameters = {name: tensor for name, tensor in trained.items() if not many or "." not in name}
        self._gout: list[Array] = []

    def measured(self) -> list[Slopes]:
        """Those of each floating input and each parameter."""
        pulled = self._adapter.autograd.vjp(
            self._call, self._block.tensors(), list(self._parameters.values()), self._draw
        )
        rows: list[Slopes] = []
        for place, array in enumerate(self._inputs):
            if array.dtype.kind == "f":
                slopes = self._slopes(array, pulled.gin[place], partial(self._with_input, place))
                rows.append(Slopes(f"in/{place}", slopes, self._dtype))
        for (name, tensor), grad in zip(self._parameters.items(), pulled.grads, strict=True):
            array = self._values.to_numpy(tensor, copy=True)
            slopes = self._slopes(array, grad, partial(self._with_parameter, tensor))
            self._values.assign(tensor, array)
            rows.append(Slopes(f"param/{name}", slopes, self._dtype))
        return rows

    def _call(self, *tensors: Value) -> Value:
        return self._block.run(tensors, lambda _inner, _args, _kwargs, result: result())

    def _draw(self, outputs: Sequence[Array]) -> list[Array]:
        self._gout = [self._random.standard_normal(output.shape).astype(output.dtype) for output in outputs]
        return self._gout

    def _slopes(self, array: Array, grad: Array | None, value: Callable[[Array], float]) -> list[tuple[float, float]]:
        """Directions in which two steps agree; where a kink lies between them, another is drawn."""
        pairs: list[tuple[float, float]] = []
        size = float(np.sqrt(np.mean(np.square(array.astype(np.float64))))) or 1.0
        step, agree = _STEP[self._dtype] * size, _AGREE[self._dtype]
        for _ in range(_MAX_DRAWS):
            direction = self._random.standard_normal(array.shape)
            here = float(np.vdot(grad.astype(np.float64), direction)) if grad is not None else 0.0
            wide, near = (self._slope(array, direction, length, value) for length in (step, step / 2))
            if abs(wide - near) <= agree * max(abs(wide), abs(near)):
                pairs.append((here, near))
            if len(pairs) == _DIRECTIONS:
                break
        return pairs

    def _slope(self, array: Array, direction: Array, step: float, value: Callable[[Array], float]) -> float:
        up, down = ((array + sign * step * direction).astype(array.dtype) for sign in (1, -1))
        return (value(up) - value(down)) / (2 * step)

    def _with_input(self, place: int, moved: Array) -> float:
        return self._value([*self._inputs[:place], moved, *self._inputs[place + 1 :]])

    def _with_parameter(self, tensor: Value, moved: Array) -> float:
        self._values.assign(tensor, moved)
        return self._value(self._inputs)

    def _value(self, inputs: Sequence[Array]) -> float:
        """The weighted sum of the outputs, whose gradient was taken."""
        with self._adapter.autograd.without_gradient():
            output = self._call(*[self._values.from_numpy(array) for array in inputs])
        arrays = [self._values.to_numpy(tensor) for _, tensor in leaves(output, self._values.is_tensor)]
        floating = [array for array in arrays if "float" in array.dtype.name]
        return sum(
            float(np.vdot(array.astype(np.float64), gout.astype(np.float64)))
            for array, gout in zip(floating, self._gout, strict=True)
        )
