"""The same layer built in both frameworks, for every row of the table, and inputs that tell gates and axes apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial as of
from typing import Any

import mindspore as ms
import numpy as np
import torch
from mindspore import nn
from torch import nn as tn

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Twin:
    """One layer in both frameworks; ``runs`` is false where MindSpore has no kernel for the CPU."""

    name: str
    torch: Callable[[], tn.Module]
    mindspore: Callable[[], nn.Cell]
    inputs: tuple[Any, ...]
    runs: bool = True


def drawn(*shape: int, seed: int = 5) -> Array:
    return np.random.default_rng((seed, *shape)).standard_normal(shape).astype(np.float32)


def _norms() -> list[Twin]:
    row, line, image, volume = drawn(3, 4), drawn(3, 4, 5), drawn(3, 4, 5, 6), drawn(2, 4, 3, 4, 5)
    plain, eps = {"affine": False}, {"epsilon": 1e-5}
    tracked = {"affine": True, "track_running_stats": True}
    return [
        Twin("BatchNorm1d", of(tn.BatchNorm1d, 4), of(nn.BatchNorm1d, 4), (row,)),
        Twin("BatchNorm2d", of(tn.BatchNorm2d, 4), of(nn.BatchNorm2d, 4), (image,)),
        Twin("BatchNorm2d plain", of(tn.BatchNorm2d, 4, **plain), of(nn.BatchNorm2d, 4, **plain), (image,)),
        Twin("BatchNorm3d", of(tn.BatchNorm3d, 4), of(nn.BatchNorm3d, 4), (volume,)),
        Twin("SyncBatchNorm", of(tn.SyncBatchNorm, 4), of(nn.SyncBatchNorm, 4), (image,)),
        Twin("LayerNorm", of(tn.LayerNorm, (5, 6)), of(nn.LayerNorm, (5, 6), 2, 2, **eps), (image,)),
        Twin("LayerNorm plain", of(tn.LayerNorm, 6, 1e-5, False), of(nn.LayerNorm, (6,), **eps), (image,)),
        Twin("LayerNorm no bias", of(tn.LayerNorm, 6, bias=False), of(nn.LayerNorm, (6,), **eps), (image,)),
        Twin("GroupNorm", of(tn.GroupNorm, 2, 4), of(nn.GroupNorm, 2, 4), (image,)),
        Twin("GroupNorm plain", of(tn.GroupNorm, 2, 4, **plain), of(nn.GroupNorm, 2, 4, **plain), (image,)),
        Twin("InstanceNorm1d", of(tn.InstanceNorm1d, 4, affine=True), of(nn.InstanceNorm1d, 4), (line,), False),
        Twin("InstanceNorm2d plain", of(tn.InstanceNorm2d, 4), of(nn.InstanceNorm2d, 4, **plain), (image,), False),
        Twin("InstanceNorm2d tracked", of(tn.InstanceNorm2d, 4, **tracked), of(nn.InstanceNorm2d, 4), (image,), False),
        Twin("InstanceNorm3d", of(tn.InstanceNorm3d, 4, affine=True), of(nn.InstanceNorm3d, 4), (volume,), False),
    ]


def _convolutions() -> list[Twin]:
    found = []
    inputs = {1: drawn(2, 4, 9), 2: drawn(2, 4, 7, 9), 3: drawn(2, 4, 5, 6, 7)}
    for rank, x in inputs.items():
        # Every axis with a length of its own, so that no two can be taken for each other.
        kernel = (2, 3, 4)[-rank:] if rank > 1 else 3
        for name, other in ((f"Conv{rank}d", f"Conv{rank}d"), (f"ConvTranspose{rank}d", f"Conv{rank}dTranspose")):
            for bias in (True, False):
                ours = of(getattr(tn, name), 4, 6, kernel, bias=bias)
                theirs = of(getattr(nn, other), 4, 6, kernel, pad_mode="valid", has_bias=bias)
                found.append(Twin(f"{name}{_bare(bias)}", ours, theirs, (x,)))
        if rank < 3:
            ours = of(getattr(tn, f"Conv{rank}d"), 4, 6, 3, stride=2, dilation=2, padding=1, groups=2)
            same = {"pad_mode": "pad", "padding": 1, "group": 2, "has_bias": True}
            theirs = of(getattr(nn, f"Conv{rank}d"), 4, 6, 3, stride=2, dilation=2, **same)
            found.append(Twin(f"Conv{rank}d grouped", ours, theirs, (x,)))
    return found


def _matrices() -> list[Twin]:
    tokens = np.array([[0, 3, 1], [4, 4, 2]], np.int32)
    image, rows, two = drawn(2, 4, 3, 5), drawn(3, 4), (drawn(2, 3), drawn(2, 4))
    found = [
        Twin("Embedding", of(tn.Embedding, 5, 3), of(nn.Embedding, 5, 3), (tokens,)),
        Twin("EmbeddingLookup", of(tn.Embedding, 5, 3), of(nn.EmbeddingLookup, 5, 3), (tokens,)),
        Twin("PReLU", of(tn.PReLU, 4), of(nn.PReLU, 4), (image,)),
        Twin("PReLU one slope", tn.PReLU, nn.PReLU, (image,)),
    ]
    for bias in (True, False):
        ours, theirs = of(tn.Linear, 4, 6, bias=bias), of(nn.Dense, 4, 6, has_bias=bias)
        found.append(Twin(f"Linear{_bare(bias)}", ours, theirs, (rows,)))
        ours, theirs = of(tn.Bilinear, 3, 4, 5, bias=bias), of(nn.BiDense, 3, 4, 5, has_bias=bias)
        found.append(Twin(f"Bilinear{_bare(bias)}", ours, theirs, two))
    return found


def _recurrent() -> list[Twin]:
    x, h, c = drawn(3, 2, 3), drawn(2, 4), drawn(2, 4, seed=6)
    relu = {"nonlinearity": "relu"}
    found = [Twin("RNN relu", of(tn.RNN, 3, 4, **relu), of(nn.RNN, 3, 4, **relu), (x,))]
    for name in ("LSTM", "GRU", "RNN"):
        found.append(Twin(name, of(getattr(tn, name), 3, 4), of(getattr(nn, name), 3, 4), (x,)))
        cell, state = f"{name}Cell", (h, c) if name == "LSTM" else h
        for bias in (True, False):
            ours = of(getattr(tn, name), 3, 4, 2, bidirectional=True, bias=bias)
            theirs = of(getattr(nn, name), 3, 4, 2, bidirectional=True, has_bias=bias)
            found.append(Twin(f"{name} deep{_bare(bias)}", ours, theirs, (x,)))
            ours, theirs = of(getattr(tn, cell), 3, 4, bias=bias), of(getattr(nn, cell), 3, 4, has_bias=bias)
            found.append(Twin(f"{cell}{_bare(bias)}", ours, theirs, (x[0], state)))
    return found


def _attention() -> list[Twin]:
    q, k, v, memory = drawn(3, 2, 8), drawn(5, 2, 6), drawn(5, 2, 10), drawn(5, 2, 8)
    ours, theirs = of(tn.MultiheadAttention, 8, 2), of(nn.MultiheadAttention, 8, 2)
    apart = {"kdim": 6, "vdim": 10, "add_bias_kv": True}
    shape = {"d_model": 8, "nhead": 2, "dim_feedforward": 12, "dropout": 0.0}
    deep = {**shape, "num_encoder_layers": 2, "num_decoder_layers": 2}
    found = [
        Twin("MultiheadAttention", ours, theirs, (q, q, q)),
        Twin("MultiheadAttention no bias", of(ours, bias=False), of(theirs, has_bias=False), (q, q, q)),
        Twin("MultiheadAttention apart", of(ours, **apart), of(theirs, **apart), (q, k, v)),
        Twin("Transformer", of(tn.Transformer, **deep), of(nn.Transformer, **deep), (memory, q)),
    ]
    for role, inputs in (("TransformerEncoder", (q,)), ("TransformerDecoder", (q, memory))):
        for first in (False, True):
            given = {**shape, "norm_first": first}
            ours, theirs = of(getattr(tn, f"{role}Layer"), **given), of(getattr(nn, f"{role}Layer"), **given)
            label = " norm first" if first else ""
            found.append(Twin(f"{role}Layer{label}", ours, theirs, inputs))
            found.append(Twin(f"{role}{label}", of(_stack, tn, role, ours), of(_stack, nn, role, theirs), inputs))
    return found


def _stack(framework: Any, role: str, layer: Callable[[], Any]) -> Any:
    one = layer()
    # A norm at the end where each layer has its own in front.
    norm = {tn: of(tn.LayerNorm, 8), nn: of(nn.LayerNorm, (8,), epsilon=1e-5)}[framework]() if one.norm_first else None
    return getattr(framework, role)(one, 2, norm=norm)


def _bare(bias: bool) -> str:
    return "" if bias else " no bias"


TWINS = [*_norms(), *_convolutions(), *_matrices(), *_recurrent(), *_attention()]


class TorchNet(tn.Module):
    def __init__(self, layer: tn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, *inputs: Any) -> Any:
        return self.layer(*inputs)


class MindSporeNet(nn.Cell):
    def __init__(self, layer: nn.Cell) -> None:
        super().__init__()
        self.layer = layer

    def construct(self, *inputs: Any) -> Any:
        return self.layer(*inputs)


def forward_torch(net: tn.Module, inputs: tuple[Any, ...]) -> list[Array]:
    """Every output of a network that is not in training."""
    with torch.no_grad():
        return _arrays(net.eval()(*_given(inputs, torch.from_numpy)))


def forward_mindspore(net: nn.Cell, inputs: tuple[Any, ...]) -> list[Array]:
    """Every output of a network that is not in training."""
    return _arrays(net.set_train(False)(*_given(inputs, ms.Tensor)))


def _given(inputs: tuple[Any, ...], tensor: Callable[[Array], Any]) -> tuple[Any, ...]:
    return tuple(_given(one, tensor) if isinstance(one, tuple) else tensor(one) for one in inputs)


def _arrays(outputs: Any) -> list[Array]:
    if isinstance(outputs, tuple | list):
        return [array for one in outputs for array in _arrays(one)]
    return [np.asarray(outputs.numpy() if isinstance(outputs, torch.Tensor) else outputs.asnumpy())]
