"""A MindSpore network seen through NumPy: its state, moved values, its outputs."""

from __future__ import annotations

import numpy as np
from mindspore import Tensor, nn
from moved_values import Arrays, moved


def state(net: nn.Cell) -> Arrays:
    """What its file holds, under the names of its file."""
    return {parameter.name: parameter.asnumpy().copy() for parameter in net.get_parameters()}


def load(net: nn.Cell, arrays: Arrays) -> nn.Cell:
    """Sets every parameter; more or fewer arrays than it has, or other shapes, are errors."""
    parameters = {parameter.name: parameter for parameter in net.get_parameters()}
    if parameters.keys() != arrays.keys():
        raise ValueError(f"not in both: {sorted(parameters.keys() ^ arrays.keys())}")
    for name, array in arrays.items():
        if parameters[name].shape != array.shape:
            raise ValueError(f"{name}: {parameters[name].shape} is given {array.shape}")
        parameters[name].set_data(Tensor(np.ascontiguousarray(array)))
    return net


def move(net: nn.Cell, seed: int = 1) -> nn.Cell:
    """Moves every parameter in place; what is shared stays shared."""
    return load(net, moved(state(net), seed))


def outputs(net: nn.Cell, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """What it computes in evaluation."""
    net.set_train(False)
    out = net(*[Tensor(array) for array in arrays])
    return [one.asnumpy() for one in (out if isinstance(out, tuple) else (out,))]
