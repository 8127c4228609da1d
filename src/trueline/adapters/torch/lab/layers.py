"""Layers and losses of torch: forward, gradients of inputs and weights, and the statistics that a layer keeps.

``more`` of a call: ``weights`` (name of a tensor: index of its array), ``train`` (the mode), ``names`` (those of
``args``), ``fixed`` (those of them that no gradient is asked of), ``statistics`` (True where outputs are random: their
statistics are given in place of them).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import torch

from trueline.adapters.lab.answers import error_of, leaves_of
from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.names import resolve
from trueline.adapters.lab.statistics import dropped
from trueline.adapters.torch.lab.values import answering, construct, form_of, to_array, to_framework
from trueline.kernel.array import Array

_SEED: Final = 11


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """What a layer gives for its inputs."""
    torch.manual_seed(_SEED)
    layer, args, kwargs = _prepared(call, arrays)
    if call.more.get("statistics"):
        return _statistics(layer, args, kwargs)
    if not call.gradient:
        return _answer(list(leaves_of(layer(*args, **kwargs))), _kept(call, layer))
    inputs = dict(zip(call.more["names"], args, strict=True))
    for name, value in inputs.items():
        if name not in call.more.get("fixed", ()):
            _watch(value)
    # A layer that computes in place may not write to what gradients are asked of.
    passed = [value.clone() if _watched(value) else value for value in args]
    outputs = list(leaves_of(layer(*passed, **kwargs)))
    answer = _answer(outputs, _kept(call, layer))
    try:
        found = _gradients(outputs, inputs, dict(layer.named_parameters()))
    except RuntimeError as problem:
        return Answer(answer.outputs, answer.forms, answer.gradients, error_of(problem, "backward: "))
    return Answer(answer.outputs, answer.forms, {**answer.gradients, **found})


def _prepared(call: Call, arrays: Sequence[Array]) -> tuple[Any, list[Any], dict[str, Any]]:
    layer = construct(resolve(call.name), call.build, arrays, call.double)
    layer.train(bool(call.more.get("train")))
    if call.double:
        layer.double()
    for leaf, index in call.more.get("weights", {}).items():
        _put(layer, leaf, to_framework({"array": index}, arrays, call.double))
    args = [to_framework(spec, arrays, call.double) for spec in call.args]
    kwargs = {name: to_framework(spec, arrays, call.double) for name, spec in call.kwargs.items()}
    return layer, args, kwargs


def _put(layer: Any, leaf: str, value: torch.Tensor) -> None:
    owner, _, name = leaf.rpartition(".")
    module = layer.get_submodule(owner)
    held = getattr(module, name, None)
    if isinstance(held, torch.nn.Parameter):
        held.data = value
    elif isinstance(held, torch.Tensor):
        setattr(module, name, value)


def _watch(value: Any) -> None:
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        value.requires_grad_()


def _watched(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def _gradients(outputs: Iterable[Any], inputs: Mapping[str, Any], weights: Mapping[str, Any]) -> dict[str, Array]:
    ends = [one for one in outputs if _watched(one)]
    sources = {name: one for name, one in inputs.items() if _watched(one)}
    sources |= {f"weight:{leaf}": one for leaf, one in weights.items() if one.requires_grad}
    if not ends or not sources:
        return {}
    cotangents = [cotangent(one) for one in ends]
    found = torch.autograd.grad(ends, list(sources.values()), cotangents, allow_unused=True)
    return {
        name: np.zeros(tuple(source.shape)) if gradient is None else to_array(gradient)
        for (name, source), gradient in zip(sources.items(), found, strict=True)
    }


def cotangent(output: torch.Tensor) -> torch.Tensor:
    """What an output is weighed with before it is summed: different for its elements, the same in both frameworks."""
    steps = torch.arange(output.numel(), dtype=torch.float64)
    return (((steps * 7) % 11 - 4) / 8).reshape(output.shape).to(output.dtype)


def _answer(outputs: Sequence[Any], kept: Mapping[str, Array]) -> Answer:
    return Answer([to_array(one) for one in outputs], [form_of(one) for one in outputs], kept)


def _kept(call: Call, layer: Any) -> dict[str, Array]:
    """The statistics that a layer keeps, as they are after the call."""
    found = dict(layer.named_buffers())
    return {f"after:{name}": to_array(found[name]) for name in call.more.get("weights", {}) if name in found}


def _statistics(layer: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
    with torch.no_grad():
        found = to_array(next(leaves_of(layer(*args, **kwargs)))).astype(np.float64)
    return dropped(found)
