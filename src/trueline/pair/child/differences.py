"""Gradients against finite differences: whether a backward that someone wrote belongs to its forward."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.wire import Content
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.model.trouble import Trouble
from trueline.pair.child.block import Block, block_of
from trueline.pair.child.calls import Counting, held_still, paths_of, tensors_of
from trueline.pair.child.flow import GradientFlow, flow_of
from trueline.pair.child.host import Answer, Host
from trueline.pair.child.templates import Template

_DIRECTIONS: Final = 3
_MANY: Final = 8
_TRIES: Final = 8
# Steps relative to a tensor's own size; a second, half as long, must lead to the same slope.
_STEP: Final = {"float64": 1e-5, "float32": 1e-2}
_AGREE: Final = {"float64": 1e-3, "float32": 2e-2}


def check_backward(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """The slopes of one call along random directions, by its gradients and measured."""
    with said_for(host.side, "running"), held_still(host, train=content["train"]):
        block = block_of(host, content, arrays)
        return {"checked": _checked(host, block.module, block.template, block.inputs)}, []


def custom_backwards(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """The calls with a backward of the user's own in one run of the whole model, each checked; and their inputs."""
    with said_for(host.side, "running"), held_still(host, train=content["train"]):
        looking = _Looking(host)
        if not looking.worth_it(host):
            return {"custom": []}, []
        with host.adapter.intercept.intercept(looking.around):
            host.adapter.autograd.vjp(
                lambda *given: host.model(*given), tensors_of(host, arrays), looking.parameters, []
            )
        told = []
        for one in looking.found:
            checked = _checked(host, one.module, one.template, one.inputs)
            line = one.line.line_json() if one.line is not None else None
            row = {"path": one.path, "call": one.call, "name": one.name, "line": line, "inputs": len(one.inputs)}
            told.append({**row, "checked": checked})
    return {"custom": told}, [array for one in looking.found for array in one.inputs]


@dataclass(frozen=True, slots=True)
class _Custom:
    path: str
    call: int
    module: Any
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
        self._walked: set[Any] = set()
        self.parameters = [one.value for one in self._values.tensors(host.model) if one.trainable and not one.buffer]
        self.found: list[_Custom] = []

    def worth_it(self, host: Host) -> bool:
        """Whether the user has written any backward at all."""
        written = any(self._flow.written_backward(one) is not None for _, one in self._values.modules(host.model))
        return written or self._flow.functions_written()

    def around(self, module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], proceed: Callable[..., Any]) -> Any:
        """One call."""
        begun = self._counting.begin(module)
        if begun is None:
            return proceed(*args, **kwargs)
        output = proceed(*args, **kwargs)
        made = self._custom_node(output)
        written = self._flow.written_backward(module) or made
        if written is not None:
            given = [one for _, one in leaves((args, kwargs), self._values.is_tensor)]
            inputs = [self._values.to_numpy(one, copy=True) for one in given]
            template = Template.of(args, kwargs, self._values.is_tensor)
            self.found.append(_Custom(*begun, module, *written, template, inputs))
        return output

    def _custom_node(self, output: Any) -> tuple[str, Location | None] | None:
        found: tuple[str, Location | None] | None = None
        waiting = [self._values.node(one) for _, one in leaves(output, self._values.is_tensor)]
        while waiting:
            node = waiting.pop()
            if node is None or node in self._walked:
                continue
            self._walked.add(node)
            found = found or self._flow.custom(node)
            waiting.extend(self._values.nodes_before(node))
        return found


def _checked(host: Host, module: Any, template: Template | None, inputs: Sequence[Array]) -> list[dict[str, Any]]:
    """In float64 where the side can, else as it is."""
    wide = flow_of(host.adapter.name).widened(module)
    if wide is not None:
        try:
            return _Slopes(host, wide, template, [_wide(one) for one in inputs], "float64").measured()
        except (RuntimeError, TypeError, ValueError, Trouble):
            # Code with a dtype of its own does not run in another.
            pass
    return _Slopes(host, module, template, inputs, "float32").measured()


def _wide(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype.kind == "f" else array


class _Slopes:
    def __init__(self, host: Host, module: Any, template: Template | None, inputs: Sequence[Array], dtype: str) -> None:
        self._block = Block(host, module, template, inputs, ())
        self._adapter, self._values, self._dtype = host.adapter, host.adapter.values, dtype
        self._inputs, self._random = list(inputs), np.random.default_rng(0)
        trained = {one.name: one.value for one in self._values.tensors(module) if one.trainable and not one.buffer}
        # Of a block with many layers only what is its own: the layers are judged by themselves.
        many = len(trained) > _MANY
        self._parameters = {name: one for name, one in trained.items() if not many or "." not in name}
        self._gout: list[Array] = []

    def measured(self) -> list[dict[str, Any]]:
        """One row per floating input and per parameter; ``slopes`` are [the gradient's, the measured] pairs."""
        pulled = self._adapter.autograd.vjp(
            self._call, self._block.tensors(), list(self._parameters.values()), self._draw
        )
        rows = []
        for place, array in enumerate(self._inputs):
            if array.dtype.kind == "f":
                slopes = self._slopes(array, pulled.gin[place], partial(self._with_input, place))
                rows.append({"of": f"in/{place}", "slopes": slopes})
        for (name, tensor), grad in zip(self._parameters.items(), pulled.grads, strict=True):
            array = self._values.to_numpy(tensor, copy=True)
            slopes = self._slopes(array, grad, partial(self._with_parameter, tensor))
            self._values.assign(tensor, array)
            rows.append({"of": f"param/{name}", "slopes": slopes})
        return [{**row, "dtype": self._dtype} for row in rows]

    def _call(self, *tensors: Any) -> Any:
        return self._block.run(tensors, lambda _inner, _args, _kwargs, result: result())

    def _draw(self, outputs: Sequence[Array]) -> list[Array]:
        self._gout = [self._random.standard_normal(one.shape).astype(one.dtype) for one in outputs]
        return self._gout

    def _slopes(self, array: Array, grad: Array | None, value: Callable[[Array], float]) -> list[list[float]]:
        """Directions in which two steps agree; where a kink lies between them, another is drawn."""
        found: list[list[float]] = []
        size = float(np.sqrt(np.mean(np.square(array.astype(np.float64))))) or 1.0
        step, agree = _STEP[self._dtype] * size, _AGREE[self._dtype]
        for _ in range(_TRIES):
            direction = self._random.standard_normal(array.shape)
            here = float(np.vdot(grad.astype(np.float64), direction)) if grad is not None else 0.0
            wide, near = (self._slope(array, direction, one, value) for one in (step, step / 2))
            if abs(wide - near) <= agree * max(abs(wide), abs(near)):
                found.append([here, near])
            if len(found) == _DIRECTIONS:
                break
        return found

    def _slope(self, array: Array, direction: Array, step: float, value: Callable[[Array], float]) -> float:
        up, down = ((array + sign * step * direction).astype(array.dtype) for sign in (1, -1))
        return (value(up) - value(down)) / (2 * step)

    def _with_input(self, place: int, moved: Array) -> float:
        return self._value([*self._inputs[:place], moved, *self._inputs[place + 1 :]])

    def _with_parameter(self, tensor: Any, moved: Array) -> float:
        self._values.assign(tensor, moved)
        return self._value(self._inputs)

    def _value(self, inputs: Sequence[Array]) -> float:
        """The weighted sum of the outputs, whose gradient was taken."""
        with self._adapter.autograd.without_gradient():
            output = self._call(*[self._values.from_numpy(one) for one in inputs])
        arrays = [self._values.to_numpy(one) for _, one in leaves(output, self._values.is_tensor)]
        floating = [one for one in arrays if "float" in one.dtype.name]
        return sum(
            float(np.vdot(one.astype(np.float64), gout.astype(np.float64)))
            for one, gout in zip(floating, self._gout, strict=True)
        )
