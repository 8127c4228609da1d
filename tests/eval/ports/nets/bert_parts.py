"""What the two BERTs are trained with: Adam, warmed up and brought down in a straight line."""

from __future__ import annotations

steps_per_epoch, epochs = 10, 2
RATE, WARM_UP, TOTAL = 2e-3, 4, 20


def bench_optimizer(model):
    import torch

    return torch.optim.Adam(model.parameters(), lr=RATE, betas=(0.9, 0.98), eps=1e-6)


def port_optimizer(model):
    from mindspore.experimental import optim

    # MindSpore's Adam adds eps before the bias is corrected; AdamW without decay adds it where torch does.
    return optim.AdamW(model.trainable_params(), lr=RATE, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.0)


def factor(step):
    """A share of the rate: up over the warm-up, then down to nothing."""
    return (step + 1) / WARM_UP if step < WARM_UP else (TOTAL - step) / (TOTAL - WARM_UP)


def bench_schedule(optimizer):
    import torch

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def port_schedule(optimizer):
    return lambda step: RATE * factor(step)
