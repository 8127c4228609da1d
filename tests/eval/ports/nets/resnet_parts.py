"""What the two ResNets are trained with: images, label smoothing, momentum without decay on norms, a cosine."""

from __future__ import annotations

import math

import numpy as np

steps_per_epoch, epochs = 5, 4
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def batches():
    random = np.random.default_rng(3)
    return [
        (random.standard_normal((4, 3, 40, 40)).astype(np.float32), random.integers(0, 10, 4).astype(np.int64))
        for _ in range(4)
    ]


def bench_loss():
    from torch import nn

    return nn.CrossEntropyLoss(label_smoothing=0.1)


def port_loss():
    from mindspore import nn

    return nn.CrossEntropyLoss(label_smoothing=0.1)


def bench_optimizer(model):
    import torch

    used = [one for one in model.parameters() if one.requires_grad]
    decayed = [one for one in used if one.ndim > 1]
    plain = [one for one in used if one.ndim == 1]
    groups = [{"params": decayed, "weight_decay": 1e-3}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.SGD(groups, lr=0.1, momentum=0.9)


def port_optimizer(model):
    from mindspore import nn

    used = model.trainable_params()
    decayed = [one for one in used if one.ndim > 1]
    plain = [one for one in used if one.ndim == 1]
    groups = [{"params": decayed, "weight_decay": 1e-3}, {"params": plain, "weight_decay": 0.0}]
    return nn.Momentum(groups, learning_rate=0.1, momentum=0.9)


def bench_schedule(optimizer):
    import torch

    return torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=steps_per_epoch * epochs)


def port_schedule(optimizer):
    total = steps_per_epoch * epochs
    return [0.1 * 0.5 * (1 + math.cos(math.pi * step / total)) for step in range(total)]


def samples():
    random = np.random.default_rng(4)
    coarse = random.integers(0, 256, (3, 8, 8, 3))
    return [np.kron(one, np.ones((6, 6, 1))).astype(np.uint8) for one in coarse]


def bench_transforms():
    from PIL import Image

    def resize(image):
        return np.asarray(Image.fromarray(image).resize((40, 40), Image.Resampling.BILINEAR))

    def to_tensor(image):
        return image.transpose(2, 0, 1).astype(np.float32) / 255

    def normalise(image):
        mean, std = np.array(MEAN, np.float32), np.array(STD, np.float32)
        return (image - mean[:, None, None]) / std[:, None, None]

    return [resize, to_tensor, normalise]


def port_transforms():
    from mindspore.dataset import vision

    return [
        vision.ToPIL(),
        vision.Resize((40, 40), vision.Inter.BILINEAR),
        vision.ToTensor(),
        vision.Normalize(MEAN, STD, is_hwc=False),
    ]


def bench_metric():
    return lambda scores, labels: float((np.asarray(scores).argmax(1) == np.asarray(labels)).mean())


def port_metric():
    def top_1(scores, labels):
        right = np.asarray(scores).argmax(axis=1) == np.asarray(labels)
        return float(right.sum() / len(right))

    return top_1
