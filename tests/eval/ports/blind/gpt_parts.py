"""How both GPTs are trained."""

import math

import numpy as np

steps_per_epoch = 10
epochs = 3
PEAK = 3e-3
FLOOR = 3e-4
WARM = 6
LAST = 24


def batches():
    """Three batches of tokens; the label -1 marks padding."""
    draw = np.random.default_rng(11)
    pairs = []
    for _ in range(3):
        tokens = draw.integers(0, 96, (2, 21))
        labels = tokens[:, 1:].copy()
        labels[1, 14:] = -1
        pairs.append((tokens[:, :-1], labels))
    return pairs


def bench_loss():
    """Mean over the tokens that are not padding."""
    import torch.nn.functional as F

    return lambda logits, labels: F.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=-1)


def port_loss():
    """Mean over the tokens that are not padding."""
    import mindspore
    from mindspore import ops

    def loss(logits, labels):
        logits = logits.reshape((-1, logits.shape[-1]))
        labels = labels.reshape(-1).astype(mindspore.int32)
        return ops.cross_entropy(logits, labels, ignore_index=-1)

    return loss


def bench_optimizer(model):
    """AdamW; vectors do not decay."""
    import torch

    params = list(model.parameters())
    groups = [
        {"params": [p for p in params if p.dim() >= 2], "weight_decay": 0.1},
        {"params": [p for p in params if p.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=PEAK, betas=(0.9, 0.95), eps=1e-8)


def port_optimizer(model):
    """AdamW; vectors do not decay."""
    from mindspore.experimental import optim

    params = model.trainable_params()
    groups = [
        {"params": [p for p in params if p.ndim >= 2], "weight_decay": 0.1},
        {"params": [p for p in params if p.ndim < 2], "weight_decay": 0.0},
    ]
    return optim.AdamW(groups, lr=PEAK, betas=(0.9, 0.95), eps=1e-8)


def bench_schedule(optimizer):
    """Linear warm-up, then half a cosine down to a tenth, per step."""
    import torch

    def factor(step):
        if step < WARM:
            return (step + 1) / WARM
        done = min(1.0, (step - WARM) / (LAST - WARM))
        return (FLOOR + 0.5 * (1 + math.cos(math.pi * done)) * (PEAK - FLOOR)) / PEAK

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def port_schedule(optimizer):
    """Linear warm-up, then half a cosine down to a tenth, one rate for each step."""
    rates = []
    for step in range(steps_per_epoch * epochs):
        if step < WARM:
            rates.append(PEAK * (step + 1) / WARM)
        else:
            done = min(1.0, (step - WARM) / (LAST - WARM))
            rates.append(FLOOR + 0.5 * (1 + math.cos(math.pi * done)) * (PEAK - FLOOR))
    return rates
