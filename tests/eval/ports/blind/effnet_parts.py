"""How both EfficientNets are trained and judged."""

import numpy as np

steps_per_epoch = 8
epochs = 5


def bench_optimizer(model):
    """RMSprop over what is not frozen."""
    import torch

    wanted = [p for p in model.parameters() if p.requires_grad]
    return torch.optim.RMSprop(wanted, lr=0.016, alpha=0.9, eps=1e-3, momentum=0.9)


def port_optimizer(model):
    """RMSprop over what is not frozen; the variant that adds eps outside the root."""
    from mindspore.experimental import optim

    return optim.RMSprop(model.trainable_params(), lr=0.016, alpha=0.9, eps=1e-3, momentum=0.9)


def bench_schedule(optimizer):
    """Exponential decay after a linear warm-up of one epoch, per step."""
    import torch

    def factor(step):
        if step < steps_per_epoch:
            return (step + 1) / steps_per_epoch
        return 0.97 ** ((step - steps_per_epoch) / 2)

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def port_schedule(optimizer):
    """Exponential decay after a linear warm-up of one epoch, per step."""

    def rate(step):
        if step < steps_per_epoch:
            return 0.016 * (step + 1) / steps_per_epoch
        return 0.016 * 0.97 ** ((step - steps_per_epoch) / 2)

    return rate


def as_array(value):
    """A NumPy array of a tensor or an array."""
    if hasattr(value, "detach"):
        value = value.detach()
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)


def bench_metric():
    """Share of samples whose label is among the three largest."""
    import torch

    def top3(predictions, labels):
        best = torch.as_tensor(as_array(predictions)).topk(3, dim=1).indices
        return (best == torch.as_tensor(as_array(labels)).view(-1, 1)).any(dim=1).float().mean().item()

    return top3


def port_metric():
    """Share of samples whose label is among the three largest."""

    def top3(predictions, labels):
        best = np.argsort(-as_array(predictions), axis=1)[:, :3]
        return float((best == as_array(labels).reshape(-1, 1)).any(axis=1).mean())

    return top3
