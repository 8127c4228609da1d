"""Trains a convolution with batch norm with Momentum and prints its losses; "watched" summarises every output."""

from __future__ import annotations

import json
import sys
from typing import Any

import mindspore as ms
import numpy as np
from adapters.observing import Notebook
from adapters.subjects.mindspore_subject import SUBJECT
from mindspore import nn, ops

STEPS = 12


class Net(nn.Cell):
    """Two blocks and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)
        self.conv2, self.norm2 = nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8)
        self.head = nn.Dense(8, 4)

    def construct(self, x: Any) -> Any:
        """The logits."""
        x = ops.relu(self.norm(self.conv(x)))
        x = ops.relu(self.norm2(self.conv2(x)))
        return self.head(x.mean((2, 3)))


if sys.argv[1] == "watched":
    SUBJECT.adapter.hooks.install(Notebook(SUBJECT, gradients=True))
ms.set_seed(0)
network = Net().set_train()
optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
random = np.random.default_rng(0)
losses = []
for _ in range(STEPS):
    inputs = ms.Tensor(random.normal(size=(8, 3, 8, 8)).astype(np.float32))
    labels = ms.Tensor(random.integers(0, 4, 8).astype(np.int32))
    step = ms.value_and_grad(
        lambda x, y: ops.cross_entropy(network(x), y),
        None,
        optimizer.parameters,
    )
    loss, gradients = step(inputs, labels)
    optimizer(gradients)
    losses.append(float(loss.asnumpy()))
weights = {name: one.asnumpy().tobytes().hex()[:64] for name, one in network.parameters_and_names()}
sys.stdout.write("\nRESULT" + json.dumps({"losses": losses, "weights": weights}) + "\n")
