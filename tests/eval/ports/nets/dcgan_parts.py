"""What the two generators are trained with: Adam with a low first beta."""

from __future__ import annotations


def bench_optimizer(model):
    import torch

    return torch.optim.Adam(model.parameters(), lr=2e-4, betas=(0.5, 0.999))


def port_optimizer(model):
    from mindspore.experimental import optim

    return optim.AdamW(model.trainable_params(), lr=2e-4, betas=(0.5, 0.999), weight_decay=0.0)


def bench_loss():
    import torch

    return torch.nn.MSELoss()


def port_loss():
    import mindspore

    return mindspore.nn.MSELoss()
