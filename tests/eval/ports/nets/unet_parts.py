"""What the two U-Nets are trained with: a loss per pixel, and plain descent."""

from __future__ import annotations

import numpy as np


def batches():
    random = np.random.default_rng(9)
    return [
        (
            random.standard_normal((2, 3, 32, 32)).astype(np.float32),
            random.integers(0, 2, (2, 2, 32, 32)).astype(np.float32),
        )
        for _ in range(4)
    ]


def bench_loss():
    from mindspore import nn

    return nn.BCEWithLogitsLoss(reduction="mean")


def port_loss():
    from torch import nn

    return nn.BCEWithLogitsLoss()


def bench_optimizer(model):
    from mindspore import nn

    return nn.SGD(model.trainable_params(), learning_rate=0.05)


def port_optimizer(model):
    import torch

    return torch.optim.SGD(model.parameters(), lr=0.05)
