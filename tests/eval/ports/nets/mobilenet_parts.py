"""What the two MobileNets are trained with: a weighted loss, Nesterov, rates that fall at the end of an epoch."""

from __future__ import annotations

import numpy as np

steps_per_epoch, epochs = 6, 4
bench_schedule_per = "epoch"
WEIGHTS = [1.0, 2.0, 0.5, 1.0, 1.0, 3.0, 1.0, 1.0, 0.25, 1.0]


def bench_loss():
    import torch

    return torch.nn.CrossEntropyLoss(weight=torch.tensor(WEIGHTS))


def port_loss():
    import mindspore

    return mindspore.nn.CrossEntropyLoss(weight=mindspore.Tensor(WEIGHTS, mindspore.float32))


def bench_optimizer(model):
    import torch

    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-3)


def port_optimizer(model):
    from mindspore import nn

    # In a group, since a decay outside of groups leaves norms out.
    groups = [{"params": model.trainable_params(), "weight_decay": 1e-3}]
    return nn.SGD(groups, 0.05, momentum=0.9, nesterov=True)


def bench_schedule(optimizer):
    import torch

    return torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)


def port_schedule(optimizer):
    return [0.05 * 0.5 ** (step // steps_per_epoch) for step in range(steps_per_epoch * epochs)]


def samples():
    return list(np.random.default_rng(5).integers(0, 256, (3, 36, 36, 3)).astype(np.uint8))


def bench_transforms():
    def crop(image):
        return image[2:34, 2:34]

    def to_tensor(image):
        return image.transpose(2, 0, 1).astype(np.float32) / 255

    def centre(image):
        return (image - 0.5) / 0.5

    return [crop, to_tensor, centre]


def port_transforms():
    from mindspore.dataset import vision

    return [
        vision.CenterCrop(32),
        vision.Rescale(1 / 255, 0.0),
        vision.Normalize([0.5] * 3, [0.5] * 3),
        vision.HWC2CHW(),
    ]
