"""The table of operators against what the frameworks tell when they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindspore as ms
import numpy as np
import pytest
import torch
from mindspore import mint, nn, ops
from torch.nn import functional

from trueline.adapters.registry import adapter_of
from trueline.apitable.opkinds import op_kind, op_kinds

IMAGE = np.random.default_rng(0).standard_normal((2, 4, 8, 8)).astype(np.float32)
MATRIX = np.random.default_rng(1).standard_normal((4, 4)).astype(np.float32)

SAME: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "add": (lambda m: m + m, lambda m: mint.add(m, m)),
    "sub": (lambda m: 1.0 - m, lambda m: 1.0 - m),
    "mul": (lambda m: m * 2, lambda m: m * 2),
    "div": (lambda m: m / 2, lambda m: m / 2),
    "pow": (lambda m: m**3, lambda m: m**3),
    "neg": (lambda m: -m, lambda m: -m),
    "abs": (lambda m: m.abs(), lambda m: m.abs()),
    "exp": (torch.exp, ops.exp),
    "sqrt": (lambda m: torch.sqrt(m), lambda m: ops.sqrt(m)),
    "erf": (torch.erf, ops.erf),
    "maximum": (lambda m: torch.maximum(m, m), lambda m: ops.maximum(m, m)),
    "clamp": (lambda m: m.clamp(0, 1), lambda m: m.clamp(0, 1)),
    "gt": (lambda m: m > 0, lambda m: m > 0),
    "lt": (lambda m: m < m, lambda m: m < m),
    "eq": (lambda m: m == m, lambda m: m == m),
    "relu": (functional.relu, nn.ReLU()),
    "elu": (functional.elu, ops.elu),
    "gelu": (lambda m: functional.gelu(m, approximate="tanh"), nn.GELU()),
    "silu": (functional.silu, nn.SiLU()),
    "mish": (functional.mish, ops.mish),
    "sigmoid": (torch.sigmoid, ops.sigmoid),
    "tanh": (torch.tanh, ops.tanh),
    "hardswish": (functional.hardswish, nn.HSwish()),
    "hardsigmoid": (functional.hardsigmoid, nn.HSigmoid()),
    "softmax": (lambda m: m.softmax(1), lambda m: ops.softmax(m, 1)),
    "log_softmax": (lambda m: m.log_softmax(1), lambda m: ops.log_softmax(m, 1)),
    "sum": (lambda m: m.sum(1), lambda m: m.sum(1)),
    "mean": (lambda m: m.mean(1), lambda m: ops.mean(m, 1)),
    "max": (lambda m: m.amax(1), lambda m: ops.amax(m, 1)),
    "argmax": (lambda m: m.argmax(1), lambda m: m.argmax(1)),
    "cumsum": (lambda m: m.cumsum(0), lambda m: ops.cumsum(m, 0)),
    "matmul": (lambda m: m @ m, lambda m: ops.matmul(m, m)),
    "linear": (lambda m: torch.addmm(m, m, m), lambda m: ops.dense(m, m, m[0])),
    "cat": (lambda m: torch.cat((m, m)), lambda m: ops.cat((m, m))),
    "stack": (lambda m: torch.stack((m, m)), lambda m: ops.stack((m, m))),
    "split": (lambda m: m.split(2), lambda m: m.split(2)),
    "transpose": (lambda m: m.permute(1, 0), lambda m: m.permute(1, 0)),
    "reshape": (lambda m: m.reshape(-1), lambda m: m.reshape(-1)),
    "unsqueeze": (lambda m: m.unsqueeze(0), lambda m: m.expand_dims(0)),
    "squeeze": (lambda m: m[:1].squeeze(0), lambda m: m[:1].squeeze(0)),
    "expand": (lambda m: m.expand(2, 4, 4), lambda m: m.broadcast_to((2, 4, 4))),
    "slice": (lambda m: m[:, 1:3], lambda m: m[:, 1:3]),
    "where": (lambda m: torch.where(m > 0, m, m), lambda m: ops.where(m > 0, m, m)),
    "masked_fill": (lambda m: m.masked_fill(m > 0, 0.0), lambda m: m.masked_fill(m > 0, 0.0)),
    "cast": (lambda m: m.half(), lambda m: m.half()),
    "flip": (lambda m: m.flip((0,)), lambda m: m.flip((0,))),
    "tril": (lambda m: m.tril(), lambda m: m.tril()),
    "stop_gradient": (lambda m: m.detach(), ops.stop_gradient),
    "layer_norm": (lambda m: functional.layer_norm(m, (4,)), nn.LayerNorm((4,))),
    "smooth_l1_loss": (lambda m: functional.smooth_l1_loss(m, m), lambda m: ops.smooth_l1_loss(m, m)),
    "ones": (torch.ones_like, ops.ones_like),
}
SAME_OF_IMAGES: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "conv": (torch.nn.Conv2d(4, 3, 3), nn.Conv2d(4, 3, 3)),
    "batch_norm": (torch.nn.BatchNorm2d(4).eval(), nn.BatchNorm2d(4).set_train(False)),
    "group_norm": (torch.nn.GroupNorm(2, 4), nn.GroupNorm(2, 4)),
    "max_pool": (torch.nn.MaxPool2d(2), nn.MaxPool2d(2, 2)),
    "avg_pool": (torch.nn.AvgPool2d(2), nn.AvgPool2d(2, 2)),
    "adaptive_avg_pool": (torch.nn.AdaptiveAvgPool2d(2), nn.AdaptiveAvgPool2d(2)),
    "resize_nearest": (
        lambda x: functional.interpolate(x, (16, 16)),
        lambda x: ops.interpolate(x, size=(16, 16), mode="nearest"),
    ),
    "resize_linear": (
        lambda x: functional.interpolate(x, (16, 16), mode="bilinear"),
        lambda x: ops.interpolate(x, size=(16, 16), mode="bilinear"),
    ),
    "pad": (lambda x: functional.pad(x, (1, 1)), lambda x: ops.pad(x, (1, 1))),
    "dropout": (
        lambda x: torch.native_dropout(x, 0.5, True),
        lambda x: nn.Dropout(p=0.5).set_train()(x),
    ),
}


def _told(framework: str, function: Callable[[Any], Any], array: Any) -> set[str]:
    adapter = adapter_of(framework)
    given = adapter.values.from_numpy(array)
    found: set[str] = set()
    with adapter.ops.watch(lambda call: found.add(op_kind(framework, call.name))):
        function(given)
    return found


@pytest.mark.parametrize("kind", [*SAME, *SAME_OF_IMAGES])
def test_both_frameworks_tell_the_same_kind(kind: str) -> None:
    in_torch, in_mindspore = {**SAME, **SAME_OF_IMAGES}[kind]
    array = IMAGE if kind in SAME_OF_IMAGES else MATRIX
    assert kind in _told("torch", in_torch, array)
    assert kind in _told("mindspore", in_mindspore, array)


def test_every_name_of_torch_is_one_of_its_operators() -> None:
    names = [name for row in op_kinds().values() for name in row.torch]
    unknown = [name for name in names if not hasattr(torch.ops.aten, name) and not hasattr(torch.ops.aten, f"{name}_")]
    assert unknown == []


def test_nothing_that_a_plain_network_runs_is_unknown() -> None:
    cells = (nn.Dense(4, 4), nn.LayerNorm((4,)), nn.GELU(False), nn.Softmax(), nn.LeakyReLU(), nn.Embedding(4, 4))
    given = [MATRIX] * 5 + [np.arange(4, dtype=np.int32)]
    for cell, array in zip(cells, given, strict=True):
        assert _told("mindspore", cell, array) <= set(op_kinds())
    loss = _told("mindspore", lambda m: ops.cross_entropy(m, ms.Tensor(np.arange(4, dtype=np.int32))), MATRIX)
    assert loss <= set(op_kinds())
