"""Losses, optimizers, schedules, data and metrics of both sides, for ``trueline pair --parts parts.py``.

What starts with bench_ runs in the torch process, what starts with port_ in MindSpore's, the rest in both.
"""

import numpy as np
from images import MEAN, SIDE, STD, listed
from PIL import Image
from recipe import BATCH_SIZE, LEARNING_RATE

FOLDER = "images"
SAMPLES = 8
BATCH = 8
RATE = LEARNING_RATE * BATCH / BATCH_SIZE
epochs = 2
steps_per_epoch = 10


def bench_loss():
    from train_torch import loss_function

    return loss_function()


def port_loss():
    from train_mindspore import loss_function

    return loss_function()


def bench_optimizer(model):
    from train_torch import optimizer_of

    return optimizer_of(model, RATE)


def port_optimizer(network):
    from train_mindspore import optimizer_of, rates

    return optimizer_of(network, rates(RATE, epochs * steps_per_epoch))


def bench_schedule(optimizer):
    from train_torch import schedule_of

    return schedule_of(optimizer, epochs * steps_per_epoch)


def bench_metric():
    from eval_torch import accuracy

    return accuracy


def port_metric():
    from eval_mindspore import accuracy

    return accuracy


def bench_dataset():
    from data_torch import train_loader

    return train_loader(FOLDER, BATCH, seed=0)


def port_dataset():
    from data_mindspore import train_batches

    return train_batches(FOLDER, BATCH, seed=0, epoch=0)


def samples():
    """The files as they are on disk: height, width, channels."""
    files, _ = listed(FOLDER, "train")
    return [np.asarray(Image.open(file)) for file in files[:: len(files) // SAMPLES][:SAMPLES]]


def bench_transforms():
    from data_torch import TRANSFORMS

    return [Image.fromarray, *TRANSFORMS]


def port_transforms():
    from data_mindspore import TRANSFORMS
    from mindspore.dataset import vision

    return [vision.ToPIL(), *TRANSFORMS]


def batches():
    """Real images, cropped only: what matters here is that both sides get the same numbers."""
    files, labels = listed(FOLDER, "train")
    order = np.random.RandomState(0).permutation(len(files))[: 4 * BATCH].reshape(4, BATCH)
    return [
        (np.stack([_standardised(files[one]) for one in chosen]), np.array([labels[one] for one in chosen], np.int32))
        for chosen in order
    ]


def _standardised(file):
    image = Image.open(file)
    edge = (image.width - SIDE) // 2
    pixels = np.asarray(image, np.float32)[edge : edge + SIDE, edge : edge + SIDE] / 255
    return ((pixels - np.float32(MEAN)) / np.float32(STD)).transpose(2, 0, 1)
