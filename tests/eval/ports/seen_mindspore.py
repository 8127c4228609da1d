"""All that a MindSpore network does on given inputs, as arrays: what a fault in it must change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

Arrays = dict[str, np.ndarray]
_BUFFERS = ("moving_mean", "moving_variance")


def state(net: nn.Cell) -> Arrays:
    """Parameters and buffers by path; one that is shared under its first path only."""
    return {name: one.asnumpy().copy() for name, one in net.parameters_and_names()}


def load(net: nn.Cell, arrays: Mapping[str, np.ndarray]) -> None:
    """Set what the arrays hold."""
    own = dict(net.parameters_and_names())
    for name, array in arrays.items():
        own[name].set_data(Tensor(np.ascontiguousarray(array)))


def trainable(net: nn.Cell) -> list[str]:
    """The paths of the parameters that are trained."""
    return [name for name, one in net.parameters_and_names() if one.requires_grad]


def dropout(net: nn.Cell) -> list[str]:
    """The shares that are dropped, as text; one that drops nothing is left out."""
    shares = [one.p for _, one in net.cells_and_names() if isinstance(one, nn.Dropout)]
    return [f"{share:.6f}" for share in shares if share]


def behaviour(net: nn.Cell, inputs: Sequence[np.ndarray]) -> Arrays:
    """Outputs in evaluation and in training, gradients, buffers after a training pass; dropout does nothing."""
    for _, cell in net.cells_and_names():
        if isinstance(cell, nn.Dropout):
            cell.construct = _as_it_is
    found: Arrays = {}
    net.set_train(False)
    given = [Tensor(one) for one in inputs]
    found |= {f"eval/{i}": one.asnumpy() for i, one in enumerate(_several(net(*given)))}
    net.set_train(True)
    trained = list(net.trainable_params())
    names = {id(one): name for name, one in net.parameters_and_names()}
    floating = tuple(i for i, one in enumerate(inputs) if one.dtype.kind == "f")

    def pulled(*args: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
        outs = _several(net(*args))
        return sum((one * _towards(one.shape)).sum() for one in outs), outs

    function = ms.value_and_grad(pulled, floating or None, trained, has_aux=True)
    (_, outs), grads = function(*given)
    by_input, by_weight = grads if floating else ((), grads)
    by_input = by_input if isinstance(by_input, tuple) else (by_input,)
    found |= {f"train/{i}": one.asnumpy() for i, one in enumerate(_several(outs))}
    found |= {f"gin/{i}": one.asnumpy() for i, one in zip(floating, by_input, strict=True)}
    found |= {f"grad/{names[id(p)]}": one.asnumpy() for p, one in zip(trained, by_weight, strict=True)}
    found |= {f"buffer/{name}": p.asnumpy() for name, p in net.parameters_and_names() if name.endswith(_BUFFERS)}
    return found


def _as_it_is(x: Tensor) -> Tensor:
    return x


def _several(out: Any) -> tuple[Tensor, ...]:
    return tuple(out) if isinstance(out, tuple | list) else (out,)


def _towards(shape: Sequence[int]) -> Tensor:
    return Tensor(np.random.default_rng(5).standard_normal(tuple(shape)).astype(np.float32))
