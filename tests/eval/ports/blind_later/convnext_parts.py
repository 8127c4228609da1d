"""How both ConvNeXts are trained, and how their pictures are prepared."""

import math

import numpy as np

steps_per_epoch = 6
epochs = 5
RATE = 4e-3
FLOOR = 4e-4
WARM = 6
MEAN = (0.48, 0.46, 0.41)
STD = (0.23, 0.22, 0.25)


def batches():
    """Three labelled batches."""
    draw = np.random.default_rng(31)
    return [(draw.standard_normal((4, 3, 36, 36)).astype(np.float32), draw.integers(0, 12, 4)) for _ in range(3)]


def bench_loss():
    """Cross entropy with soft labels."""
    from torch import nn

    return nn.CrossEntropyLoss(label_smoothing=0.1)


def port_loss():
    """Cross entropy with soft labels."""
    import mindspore
    from mindspore import nn

    entropy = nn.CrossEntropyLoss(label_smoothing=0.1)
    return lambda logits, labels: entropy(logits, labels.astype(mindspore.int32))


def bench_optimizer(model):
    """AdamW; biases, norms and channel scales do not decay."""
    import torch

    kept, free = [], []
    for param in model.parameters():
        (free if param.ndim == 1 else kept).append(param)
    groups = [{"params": kept, "weight_decay": 0.05}, {"params": free, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=RATE, betas=(0.9, 0.999), eps=1e-8)


def port_optimizer(model):
    """AdamW; biases, norms and channel scales do not decay."""
    from mindspore.experimental import optim

    params = model.trainable_params()
    groups = [
        {"params": [p for p in params if p.ndim > 1], "weight_decay": 0.05},
        {"params": [p for p in params if p.ndim == 1], "weight_decay": 0.0},
    ]
    return optim.AdamW(groups, lr=RATE, betas=(0.9, 0.999), eps=1e-8)


def bench_schedule(optimizer):
    """One epoch of linear warm-up, then half a cosine that stops at a tenth, per step."""
    import torch

    last = steps_per_epoch * epochs

    def factor(step):
        if step < WARM:
            return (step + 1) / WARM
        wave = 0.5 * (1 + math.cos(math.pi * (step - WARM) / (last - WARM)))
        return (FLOOR + (RATE - FLOOR) * wave) / RATE

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def port_schedule(optimizer):
    """One epoch of linear warm-up, then half a cosine that stops at a tenth, one rate for each step."""
    last = steps_per_epoch * epochs
    rates = [RATE * (step + 1) / WARM for step in range(WARM)]
    for step in range(WARM, last):
        wave = 0.5 * (1 + math.cos(math.pi * (step - WARM) / (last - WARM)))
        rates.append(FLOOR + (RATE - FLOOR) * wave)
    return rates


def samples():
    """Four raw pictures made of tiles."""
    draw = np.random.default_rng(32)
    tiles = draw.integers(0, 256, (4, 6, 7, 3))
    return [np.kron(one, np.ones((9, 8, 1))).astype(np.uint8) for one in tiles]


def bench_transforms():
    """42 pixels, the middle 36 of them, 0..1, channels first, normalised."""
    import torch
    from PIL import Image

    def resize(picture):
        return np.array(Image.fromarray(picture).resize((42, 42), Image.Resampling.BILINEAR))

    def center_crop(picture):
        return picture[3:39, 3:39]

    def to_tensor(picture):
        return torch.from_numpy(picture.copy()).permute(2, 0, 1).float() / 255

    def normalize(picture):
        return (picture - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1)

    return [resize, center_crop, to_tensor, normalize]


def port_transforms():
    """42 pixels, the middle 36 of them, 0..1, channels first, normalised."""
    from mindspore.dataset import vision

    return [
        vision.ToPIL(),
        vision.Resize((42, 42), vision.Inter.BILINEAR),
        vision.CenterCrop(36),
        vision.ToTensor(),
        vision.Normalize(MEAN, STD, is_hwc=False),
    ]
