"""How both DenseNets are trained, and on what."""

import numpy as np

steps_per_epoch = 5
epochs = 6
bench_schedule_per = "epoch"


def batches():
    """Three labelled batches."""
    draw = np.random.default_rng(5)
    pairs = []
    for _ in range(3):
        pairs.append((draw.standard_normal((4, 3, 48, 48)).astype(np.float32), draw.integers(0, 10, 4)))
    return pairs


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
    """SGD as in the paper."""
    import torch

    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-2)


def port_optimizer(model):
    """SGD as in the paper; the one group makes the norms decay too."""
    from mindspore import nn

    params = [{"params": model.trainable_params(), "weight_decay": 1e-2}]
    return nn.SGD(params, learning_rate=0.1, momentum=0.9, nesterov=True)


def bench_schedule(optimizer):
    """A tenth after epochs 3 and 5."""
    import torch

    return torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[3, 5], gamma=0.1)


def port_schedule(optimizer):
    """A tenth after epochs 3 and 5, one rate for each step."""
    rates = []
    for step in range(epochs * steps_per_epoch):
        epoch = step // steps_per_epoch
        rates.append(0.1 * 0.1 ** sum(epoch >= m for m in (3, 5)))
    return rates


def pictures():
    """Twelve raw pictures with labels."""
    draw = np.random.default_rng(8)
    return draw.integers(0, 256, (12, 56, 56, 3)).astype(np.uint8), draw.integers(0, 10, 12)


def samples():
    """The raw pictures."""
    return list(pictures()[0][:4])


MEAN = (0.49, 0.48, 0.45)
STD = (0.25, 0.24, 0.26)


def bench_transforms():
    """Middle 48 pixels, 0..1, channels first, normalised."""
    import torch

    mean, std = torch.tensor(MEAN).view(3, 1, 1), torch.tensor(STD).view(3, 1, 1)

    def center_crop(picture):
        return picture[4:52, 4:52]

    def to_tensor(picture):
        return torch.from_numpy(np.ascontiguousarray(picture)).permute(2, 0, 1).float() / 255

    def normalize(picture):
        return (picture - mean) / std

    return [center_crop, to_tensor, normalize]


def port_transforms():
    """Middle 48 pixels, normalised in 0..255, channels first."""
    from mindspore.dataset import vision

    return [
        vision.CenterCrop(48),
        vision.Normalize(mean=[m * 255 for m in MEAN], std=[s * 255 for s in STD]),
        vision.HWC2CHW(),
    ]


def bench_dataset():
    """Batches of four in the order of the files."""
    import torch

    images, labels = pictures()
    steps = bench_transforms()
    rows = []
    for image, label in zip(images, labels, strict=True):
        for step in steps:
            image = step(image)
        rows.append((image, int(label)))
    return torch.utils.data.DataLoader(rows, batch_size=4, shuffle=False)


def port_dataset():
    """Batches of four in the order of the files."""
    from mindspore.dataset import GeneratorDataset

    images, labels = pictures()
    rows = GeneratorDataset(list(zip(images, labels, strict=True)), ["image", "label"], shuffle=False)
    return rows.map(port_transforms(), input_columns="image").batch(4)
