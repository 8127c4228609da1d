"""How both DCGANs train their generator."""

import numpy as np


def batches():
    """Noise, and the verdict that is hoped for."""
    draw = np.random.default_rng(3)
    return [(draw.standard_normal((4, 16, 1, 1)).astype(np.float32), np.ones(4, np.float32)) for _ in range(3)]


def bench_loss():
    """Binary cross entropy of the logits."""
    from torch import nn

    return nn.BCEWithLogitsLoss()


def port_loss():
    """Binary cross entropy of the logits."""
    from mindspore import nn

    return nn.BCEWithLogitsLoss()


def bench_optimizer(model):
    """The paper's Adam, for the generator only."""
    import torch

    return torch.optim.Adam(model.netG.parameters(), lr=2e-4, betas=(0.5, 0.999))


def port_optimizer(model):
    """The paper's Adam, for the generator only; of MindSpore's, only AdamW adds eps where torch does."""
    from mindspore.experimental import optim

    return optim.AdamW(model.generator.trainable_params(), lr=2e-4, betas=(0.5, 0.999), weight_decay=0.0)
