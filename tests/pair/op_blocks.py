"""Op graphs of small torch blocks whose inner layers give the benchmark's outputs."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch

from trueline.adapters.lines import user_line
from trueline.adapters.nouns import OpCall
from trueline.adapters.torch.build import PACKAGE
from trueline.adapters.torch.ops import watch
from trueline.apitable.opkinds import op_kind
from trueline.model.location import Location
from trueline.pair.ops.op_graph import Graph, Op


class Recorder:
    """Watches one call of a block; layers in ``forced`` return what they are told and are one op each."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.values: list[np.ndarray | None] = []
        self.ids: dict[tuple[int, int], int] = {}
        self.alive: list[Any] = []
        self.names: dict[int, str] = {}
        self.inside = False

    def value(self, tensor: torch.Tensor) -> int:
        key = (id(tensor), tensor._version)
        if key not in self.ids:
            self.alive.append(tensor)
            self.ids[key] = len(self.values)
            kept = tensor.detach() if tensor.dtype is torch.bool else tensor.detach().to(torch.float32)
            self.values.append(kept.numpy().copy())
        return self.ids[key]

    def tell(self, call: OpCall) -> None:
        if self.inside:
            return
        # What is written in place is told after it was: its version before.
        given = tuple(self.before(one, call.outputs) for one in call.inputs)
        made = tuple(self.value(one) for one in call.outputs)
        self.ops.append(Op(call.name, op_kind("torch", call.name), given, made, call.line))

    def before(self, tensor: torch.Tensor, outputs: Any) -> int:
        if any(tensor is one for one in outputs):
            return self.ids.get((id(tensor), tensor._version - 1), self.value(tensor))
        return self.value(tensor)

    def layer(
        self, path: str, given: tuple[Any, ...], made: torch.Tensor, line: Location | None, kind: str = "Layer"
    ) -> None:
        inputs = tuple(self.value(one) for one in given if torch.is_tensor(one))
        self.ops.append(Op(kind, "layer", inputs, (self.value(made),), line, path))


def recorded(
    block: torch.nn.Module, inputs: list[torch.Tensor], forced: dict[str, list[torch.Tensor]] | None = None
) -> tuple[Graph, dict[str, list[torch.Tensor]]]:
    """The graph of one call, and the outputs of its layers with parameters by path."""
    recorder = Recorder()
    told: dict[str, list[torch.Tensor]] = {}
    handles = []
    for path, module in block.named_modules():
        if path and list(module.parameters(recurse=False)):
            handles += _force(recorder, path, module, forced, told)
    for name, parameter in block.named_parameters():
        recorder.names[recorder.value(parameter)] = name
    given = tuple(recorder.value(one) for one in inputs)
    with torch.no_grad(), watch(recorder.tell):
        output = block(*inputs)
    for handle in handles:
        handle.remove()
    outputs = output if isinstance(output, tuple) else (output,)
    return Graph(
        recorder.ops, recorder.values, given, tuple(recorder.value(one) for one in outputs), recorder.names
    ), told


def _force(recorder: Recorder, path: str, module: Any, forced: Any, told: dict[str, list[torch.Tensor]]) -> list[Any]:
    def before(_: Any, args: Any) -> None:
        recorder.inside = True

    def after(_: Any, args: Any, output: torch.Tensor) -> torch.Tensor:
        recorder.inside = False
        calls = told.setdefault(path, [])
        made = forced[path][len(calls) % len(forced[path])] if forced is not None and path in forced else output
        calls.append(made)
        recorder.layer(path, args, made, user_line(PACKAGE, frame=sys._getframe(1)), type(module).__name__)
        return made

    return [module.register_forward_pre_hook(before), module.register_forward_hook(after)]


def both(bench: torch.nn.Module, port: torch.nn.Module, *inputs: torch.Tensor) -> tuple[Graph, Graph]:
    """The graphs of two blocks with equal weights on equal inputs, the second's layers forced to the first's."""
    port.load_state_dict(bench.state_dict(), strict=False)
    first, told = recorded(bench.eval(), list(inputs))
    second, _ = recorded(port.eval(), list(inputs), told)
    return first, second
