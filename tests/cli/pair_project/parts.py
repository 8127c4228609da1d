"""Losses, optimizers, schedules and metrics of the benchmark and of its port."""

from __future__ import annotations

steps_per_epoch = 4
epochs = 3


def bench_loss():
    import torch

    return torch.nn.CrossEntropyLoss(label_smoothing=0.1)


def port_loss():
    from mindspore import nn

    return nn.CrossEntropyLoss(label_smoothing=0.1)


def bench_optimizer(model):
    import torch

    return torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=1e-4)


def port_optimizer(model):
    from mindspore import nn

    # In a group of its own: without one MindSpore would not decay what is called gamma or beta.
    everything = [{"params": model.trainable_params(), "weight_decay": 1e-4}]
    return nn.SGD(everything, 0.1, momentum=0.9, weight_decay=1e-4)


def bench_schedule(optimizer):
    import torch

    return torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)


def port_schedule(optimizer):
    return [0.1 * 0.5 ** (step // 4) for step in range(steps_per_epoch * epochs)]


def accuracy(predictions, labels):
    return float((predictions.argmax(1) == labels).sum()) / len(labels)


def bench_metric():
    return accuracy


def port_metric():
    return accuracy
