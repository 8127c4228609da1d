"""What the two vision transformers are trained with: AdamW, a warm-up and a cosine."""

from __future__ import annotations

import math

steps_per_epoch, epochs = 10, 3
RATE, WARM_UP, TOTAL = 1e-3, 6, 30


def bench_loss():
    from torch import nn

    return nn.CrossEntropyLoss()


def port_loss():
    from mindspore import nn

    return nn.CrossEntropyLoss()


def bench_optimizer(model):
    import torch

    return torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.05)


def port_optimizer(model):
    from mindspore.experimental import optim

    return optim.AdamW(model.trainable_params(), lr=RATE, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.05)


def bench_schedule(optimizer):
    import torch

    def factor(step):
        if step < WARM_UP:
            return (step + 1) / WARM_UP
        return 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * (step - WARM_UP) / (TOTAL - WARM_UP)))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def port_schedule(optimizer):
    rates = [RATE * (step + 1) / WARM_UP for step in range(WARM_UP)]
    for step in range(TOTAL - WARM_UP):
        rates.append(RATE * (0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * step / (TOTAL - WARM_UP)))))
    return rates
