"""All that a torch network does on given inputs, as arrays: what a fault in it must change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

Arrays = dict[str, np.ndarray]


def state(net: torch.nn.Module) -> Arrays:
    """Parameters and buffers by path; one that is shared under its first path only."""
    pairs = [*net.named_parameters(), *net.named_buffers()]
    return {name: one.detach().numpy().copy() for name, one in pairs if not name.endswith("num_batches_tracked")}


def load(net: torch.nn.Module, arrays: Mapping[str, np.ndarray]) -> None:
    """Set what the arrays hold."""
    own = dict([*net.named_parameters(), *net.named_buffers()])
    with torch.no_grad():
        for name, array in arrays.items():
            own[name].copy_(torch.from_numpy(array))


def trainable(net: torch.nn.Module) -> list[str]:
    """The paths of the parameters that are trained."""
    return [name for name, one in net.named_parameters() if one.requires_grad]


def dropout(net: torch.nn.Module) -> list[str]:
    """The shares that are dropped, as text; one that drops nothing is left out."""
    shares = [float(getattr(one, "p", 0) or getattr(one, "dropout", 0) or 0) for one in net.modules() if _drops(one)]
    return [f"{share:.6f}" for share in shares if share]


def _drops(module: torch.nn.Module) -> bool:
    return isinstance(module, torch.nn.Dropout | torch.nn.LSTM | torch.nn.GRU | torch.nn.MultiheadAttention)


def behaviour(net: torch.nn.Module, inputs: Sequence[np.ndarray]) -> Arrays:
    """Outputs in evaluation and in training, gradients, buffers after a training pass; dropout does nothing."""
    for module in net.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        elif isinstance(module, torch.nn.LSTM | torch.nn.GRU):
            module.dropout = 0.0
    found: Arrays = {}
    net.eval()
    found |= {f"eval/{i}": one.detach().numpy() for i, one in enumerate(_several(net(*_tensors(inputs))))}
    net.train()
    given = _tensors(inputs)
    outs = _several(net(*given))
    found |= {f"train/{i}": one.detach().numpy().copy() for i, one in enumerate(outs)}
    sum((one * _towards(one.shape)).sum() for one in outs).backward()
    found |= {f"gin/{i}": one.grad.numpy() for i, one in enumerate(given) if one.grad is not None}
    grads = {name: one.grad for name, one in net.named_parameters() if one.grad is not None}
    found |= {f"grad/{name}": one.numpy() for name, one in grads.items()}
    found |= {f"buffer/{name}": one.numpy().copy() for name, one in net.named_buffers() if one.is_floating_point()}
    return found


def _tensors(inputs: Sequence[np.ndarray]) -> list[torch.Tensor]:
    return [torch.from_numpy(one.copy()).requires_grad_(one.dtype.kind == "f") for one in inputs]


def _several(out: Any) -> tuple[torch.Tensor, ...]:
    return out if isinstance(out, tuple) else (out,)


def _towards(shape: Sequence[int]) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(5).standard_normal(tuple(shape)).astype(np.float32))
