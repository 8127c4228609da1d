"""A torch network seen through NumPy: its state, moved values, its outputs."""

from __future__ import annotations

import numpy as np
import torch
from moved_values import Arrays, moved
from torch import nn


def state(net: nn.Module) -> Arrays:
    """What its file holds, under the names of its file."""
    return {name: tensor.detach().numpy().copy() for name, tensor in net.state_dict().items()}


def move(net: nn.Module, seed: int = 1) -> nn.Module:
    """Moves every parameter and buffer in place; what is shared stays shared."""
    tensors = dict([*net.named_parameters(), *net.named_buffers()])
    with torch.no_grad():
        for name, array in moved({name: tensor.detach().numpy() for name, tensor in tensors.items()}, seed).items():
            tensors[name].copy_(torch.from_numpy(np.asarray(array)))
    return net


def outputs(net: nn.Module, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """What it computes in evaluation."""
    net.eval()
    with torch.no_grad():
        out = net(*[torch.from_numpy(array) for array in arrays])
    return [one.numpy() for one in (out if isinstance(out, tuple) else (out,))]
