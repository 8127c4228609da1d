"""How both Conformers are trained; MindSpore is the benchmark."""

import numpy as np

steps_per_epoch = 6
epochs = 5
port_schedule_per = "step"
PEAK = 2e-3
WARM = 8


def batches():
    """Three labelled batches of recordings."""
    draw = np.random.default_rng(51)
    return [(draw.standard_normal((4, 32, 20)).astype(np.float32), draw.integers(0, 12, 4)) for _ in range(3)]


def bench_loss():
    """Cross entropy, summed over the batch."""
    import mindspore
    from mindspore import nn

    entropy = nn.CrossEntropyLoss(reduction="sum")
    return lambda logits, labels: entropy(logits, labels.astype(mindspore.int32))


def port_loss():
    """Cross entropy, summed over the batch."""
    import torch

    return torch.nn.CrossEntropyLoss(reduction="sum")


def bench_optimizer(model):
    """AdamW."""
    from mindspore.experimental import optim

    return optim.AdamW(model.trainable_params(), lr=PEAK, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.02)


def port_optimizer(model):
    """AdamW."""
    import torch

    return torch.optim.AdamW(model.parameters(), lr=PEAK, betas=(0.9, 0.98), eps=1e-9, weight_decay=0.02)


def bench_schedule(optimizer):
    """Up in a line, then down with the root of the step, one rate for each step."""
    total = steps_per_epoch * epochs
    return [PEAK * min(step / WARM, (WARM / step) ** 0.5) for step in range(1, total + 1)]


def port_schedule(optimizer):
    """Up in a line, then down with the root of the step."""
    import torch

    def factor(step):
        step = step + 1
        return min(step / WARM, (WARM / step) ** 0.5)

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
