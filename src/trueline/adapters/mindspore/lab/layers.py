"""Layers and losses of MindSpore: forward, gradients of inputs and weights, and the statistics that a layer keeps.

``more`` of a call: ``weights`` (torch's name of a tensor: index of its array), ``leaves`` (torch's name: what MindSpore
may call it), ``inserted`` (torch's name: the axis of length 1 that MindSpore has besides), ``train`` (the mode),
``names`` (those of ``args``), ``fixed`` (those of them that no gradient is asked of), ``statistics`` (True where
outputs are random: their statistics are given in place of them). Gradients and statistics are named as torch names
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import mindspore as ms
import numpy as np

from trueline.adapters.lab.answers import error_of, leaves_of
from trueline.adapters.lab.call import Answer, Call
from trueline.adapters.lab.names import resolve
from trueline.adapters.lab.statistics import dropped
from trueline.adapters.mindspore.lab.values import answering, construct, form_of, recover, to_array, to_framework
from trueline.kernel.array import Array

_SEED: Final = 11
_FLOATS: Final = (ms.float16, ms.float32, ms.float64, ms.bfloat16)


@answering
def run(call: Call, arrays: Sequence[Array]) -> Answer:
    """What a layer gives for its inputs."""
    ms.set_seed(_SEED)
    layer, weights, args, kwargs = _prepared(call, arrays)
    if call.more.get("statistics"):
        return _statistics(layer, args, kwargs)
    problem: Exception | None = None
    gradients: dict[str, Array] = {}
    if call.gradient:
        # What an earlier call has left behind may come up here: only what is raised twice is this call's own.
        for _ in range(2):
            try:
                outputs, gradients = _differentiated(call, layer, weights, args, kwargs)
                return _answer(call, outputs, weights, gradients)
            except Exception as raised:  # noqa: BLE001 - a layer without a gradient still has outputs
                problem = raised
                recover()
                layer, weights, args, kwargs = _prepared(call, arrays)
    outputs = list(leaves_of(layer(*args, **kwargs)))
    answer = _answer(call, outputs, weights, gradients)
    if problem is None:
        return answer
    return Answer(answer.outputs, answer.forms, answer.gradients, error_of(problem, "backward: "))


def _prepared(call: Call, arrays: Sequence[Array]) -> tuple[Any, dict[str, ms.Parameter], list[Any], dict[str, Any]]:
    thing = resolve(call.name)
    if not isinstance(thing, type):
        build = {name: to_framework(one, arrays, call.double) for name, one in call.build.items()}
        layer: Any = partial(thing, **build)
        weights = {}
    else:
        layer = construct(thing, call.build, arrays, call.double)
        layer.set_train(bool(call.more.get("train")))
        weights = _weights(layer, call.more.get("leaves", {}))
    inserted = call.more.get("inserted", {})
    for leaf, index in call.more.get("weights", {}).items():
        if leaf in weights:
            _put(weights[leaf], arrays[index], inserted.get(leaf), call.double)
    args = [to_framework(spec, arrays, call.double) for spec in call.args]
    kwargs = {name: to_framework(spec, arrays, call.double) for name, spec in call.kwargs.items()}
    return layer, weights, args, kwargs


def _weights(layer: ms.nn.Cell, leaves: Mapping[str, Sequence[str]]) -> dict[str, ms.Parameter]:
    """The parameters by torch's names; those that torch does not have under their own."""
    torch_name = {name: leaf for leaf, names in leaves.items() for name in names}
    return {torch_name.get(name, name): parameter for name, parameter in layer.parameters_and_names()}


def _put(parameter: ms.Parameter, array: Array, axis: int | None, double: bool) -> None:
    wide = array.astype(np.float64) if double and array.dtype.kind == "f" else array
    if axis is not None:
        wide = np.expand_dims(wide, axis)
    value = ms.Tensor(np.array(wide))
    if parameter.dtype != value.dtype:
        parameter.set_dtype(value.dtype)
    parameter.set_data(value)


def _differentiated(
    call: Call, layer: Any, weights: Mapping[str, ms.Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Array]]:
    """Outputs and gradients of one pass."""
    kept: list[Any] = []

    def weighed(*values: Any) -> Any:
        # What is not differentiated is no argument here: see the probe gradient_after_another_size.
        whole = list(args)
        for place, value in zip(places, values, strict=True):
            whole[place] = value
        kept[:] = leaves_of(layer(*whole, **kwargs))
        ends = [one for one in kept if _floating(one)]
        return [(one * cotangent(one)).sum() for one in ends] if ends else [ms.ops.zeros((), ms.float32)]

    names = call.more["names"]
    fixed = call.more.get("fixed", ())
    places = [place for place, value in enumerate(args) if _floating(value) and names[place] not in fixed]
    trained = {leaf: one for leaf, one in weights.items() if one.requires_grad}
    if not places and not trained:
        return list(leaves_of(layer(*args, **kwargs))), {}
    positions = tuple(range(len(places))) or None
    inputs = [args[place] for place in places]
    _, found = ms.value_and_grad(weighed, positions, list(trained.values()) or None)(*inputs)
    by_input, by_weight = found if places and trained else (found, ()) if places else ((), found)
    if isinstance(by_input, ms.Tensor):
        by_input = (by_input,)
    gradients = {names[place]: to_array(one) for place, one in zip(places, by_input, strict=True)}
    for leaf, one in zip(trained, by_weight, strict=False):
        gradients[f"weight:{leaf}"] = _squeezed(call, leaf, to_array(one))
    return kept, gradients


def cotangent(output: ms.Tensor) -> ms.Tensor:
    """What an output is weighed with before it is summed: different for its elements, the same in both frameworks."""
    steps = np.arange(int(np.prod(output.shape)), dtype=np.float64)
    return ms.Tensor((((steps * 7) % 11 - 4) / 8).reshape(output.shape), output.dtype)


def _floating(value: Any) -> bool:
    return isinstance(value, ms.Tensor) and value.dtype in _FLOATS


def _squeezed(call: Call, leaf: str, array: Array) -> Array:
    axis = call.more.get("inserted", {}).get(leaf)
    return array if axis is None else array.squeeze(axis)


def _answer(
    call: Call, outputs: Sequence[Any], weights: Mapping[str, ms.Parameter], gradients: Mapping[str, Array]
) -> Answer:
    kept = {
        f"after:{leaf}": _squeezed(call, leaf, to_array(one))
        for leaf, one in weights.items()
        if leaf in call.more.get("weights", {}) and leaf.rpartition(".")[2].startswith("running_")
    }
    return Answer([to_array(one) for one in outputs], [form_of(one) for one in outputs], {**kept, **gradients})


def _statistics(layer: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
    found = to_array(next(leaves_of(layer(*args, **kwargs)))).astype(np.float64)
    return dropped(found)
