"""The benchmark's pipeline: torch and Pillow."""

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def raw(count=12):
    rng = np.random.default_rng(0)
    small = rng.integers(0, 256, (count, 6, 8, 3), dtype=np.uint8)
    return np.stack([np.asarray(Image.fromarray(one).resize((48, 40), Image.Resampling.BICUBIC)) for one in small])


class Compose:
    def __init__(self, *transforms):
        self.transforms = list(transforms)

    def __call__(self, x):
        for one in self.transforms:
            x = one(x)
        return x


class Resize:
    def __init__(self, height, width):
        self.height, self.width = height, width

    def __call__(self, image):
        return np.asarray(Image.fromarray(image).resize((self.width, self.height), Image.Resampling.BILINEAR))


def to_tensor(image):
    return torch.from_numpy(image.transpose(2, 0, 1).copy()).float() / 255


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = (torch.tensor(one).view(3, 1, 1) for one in (mean, std))

    def __call__(self, x):
        return (x - self.mean) / self.std


class Flip:
    def __call__(self, image):
        return image if np.random.rand() < 0.5 else image[:, ::-1]


class Pictures(Dataset):
    def __init__(self, *first):
        self.images = raw()
        self.transform = Compose(*first, Resize(24, 32), to_tensor, Normalize(MEAN, STD))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        return self.transform(self.images[index]), index % 4


def make():
    return DataLoader(Pictures(), batch_size=4)


def random():
    return DataLoader(Pictures(Flip()), batch_size=4)


class WithAHole(Pictures):
    def __getitem__(self, index):
        if index == 3:
            raise OSError("broken file")
        return super().__getitem__(index)


def with_a_hole():
    return DataLoader(WithAHole(), batch_size=4)


class Sentences(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        ids = np.zeros(10, np.int64)
        ids[: 3 + index % 4] = np.arange(5, 8 + index % 4) + index
        return ids, index % 2


def text():
    return DataLoader(Sentences(), batch_size=4)
