"""Healthy pipelines of torch in many styles: nothing may be found in any of them."""

from __future__ import annotations

import random
import sqlite3

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
    get_worker_info,
    random_split,
)
from torch.utils.data.distributed import DistributedSampler

PIXELS = np.random.default_rng(0).integers(0, 256, (40, 12, 10, 3), dtype=np.uint8)
LABELS = np.arange(40) % 4


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, x):
        for one in self.transforms:
            x = one(x)
        return x


class RandomFlip:
    def __call__(self, image):
        return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if random.random() < 0.5 else image


class Resize:
    def __init__(self, size):
        self.size = size

    def __call__(self, image):
        return image.resize(self.size, Image.Resampling.BILINEAR)


def to_tensor(image):
    return torch.from_numpy(np.array(image)).permute(2, 0, 1).float() / 255


class Normalize(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean).view(-1, 1, 1))
        self.register_buffer("std", torch.tensor(std).view(-1, 1, 1))

    def forward(self, x):
        return (x - self.mean) / self.std


class Pictures(Dataset):
    classes = ("a", "b", "c", "d")

    def __init__(self, transform=None, target_transform=None):
        self.transform, self.target_transform = transform, target_transform
        self.read = 0

    def __len__(self):
        return len(PIXELS)

    def __getitem__(self, index):
        self.read += 1
        image, label = Image.fromarray(PIXELS[index]), int(LABELS[index])
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            label = self.target_transform(label)
        return image, label


def training():
    steps = [RandomFlip(), Resize((8, 8)), to_tensor, Normalize([0.5] * 3, [0.25] * 3)]
    return DataLoader(Pictures(Compose(steps)), batch_size=8, shuffle=True, num_workers=2, drop_last=True)


def evaluation():
    steps = nn.Sequential(Normalize([0.5] * 3, [0.25] * 3), nn.Identity())
    return DataLoader(Pictures(Compose([Resize((8, 8)), to_tensor, steps])), batch_size=8)


def raw_pictures():
    return Pictures()


def one_hot():
    return DataLoader(Pictures(to_tensor, lambda label: torch.eye(4)[label]), batch_size=8, shuffle=True)


def tensors():
    return DataLoader(TensorDataset(torch.randn(50, 6), torch.randint(0, 3, (50,))), batch_size=16, shuffle=True)


def parts():
    whole = TensorDataset(torch.randn(60, 3), torch.arange(60) % 2)
    train, _ = random_split(whole, [40, 20], generator=torch.Generator().manual_seed(0))
    return DataLoader(ConcatDataset([train, Subset(whole, [1, 5, 9])]), batch_size=5, shuffle=True)


class Boxes(Dataset):
    def __len__(self):
        return 20

    def __getitem__(self, index):
        return torch.rand(3, 8, 8), {"boxes": torch.rand(index % 4, 4), "labels": torch.zeros(index % 4).long()}


def detection():
    return DataLoader(Boxes(), batch_size=4, shuffle=True, collate_fn=lambda batch: tuple(zip(*batch, strict=True)))


class Sentences(Dataset):
    def __init__(self):
        self.tokens = [list(range(2, 3 + index % 7)) for index in range(30)]

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return {"ids": torch.tensor(self.tokens[index]), "text": f"sentence {index}", "label": index % 2}


def pad(batch):
    ids = nn.utils.rnn.pad_sequence([one["ids"] for one in batch], batch_first=True)
    return {"ids": ids, "text": [one["text"] for one in batch], "label": torch.tensor([one["label"] for one in batch])}


def text():
    return DataLoader(Sentences(), batch_size=6, shuffle=True, collate_fn=pad)


def text_without_loader():
    return Sentences()


class Sharded(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __iter__(self):
        info = get_worker_info()
        mine = range(self.count) if info is None else range(info.id, self.count, info.num_workers)
        order = list(mine)
        random.shuffle(order)
        for index in order:
            yield torch.full((3,), float(index)), index % 2


def stream():
    return DataLoader(Sharded(24), batch_size=4, num_workers=2)


def chained():
    return DataLoader(ChainDataset([Sharded(10), Sharded(6)]), batch_size=4)


def weighted():
    data = TensorDataset(torch.randn(30, 2), torch.arange(30) % 3)
    return DataLoader(data, batch_size=5, sampler=WeightedRandomSampler([1.0] * 20 + [5.0] * 10, 30))


def batch_sampled():
    data = TensorDataset(torch.randn(30, 2))
    return DataLoader(data, batch_sampler=BatchSampler(RandomSampler(data), 7, drop_last=False))


def distributed():
    data = TensorDataset(torch.randn(32, 2))
    return DataLoader(data, batch_size=4, sampler=DistributedSampler(data, num_replicas=2, rank=0))


class Windows(Dataset):
    def __init__(self):
        self.series = np.cumsum(np.random.default_rng(1).normal(size=200)).astype(np.float32)

    def __len__(self):
        return len(self.series) - 16

    def __getitem__(self, index):
        return self.series[index : index + 16], self.series[index + 16]


def windows():
    return DataLoader(Windows(), batch_size=32, shuffle=True)


class Synthetic(Dataset):
    """Any index gives something: there is no end to be found."""

    def __len__(self):
        return 100

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        return torch.randn(4, generator=generator), index % 5


def synthetic():
    return DataLoader(Synthetic(), batch_size=10, shuffle=True, num_workers=2)


class Cached(Dataset):
    def __init__(self):
        self.cache = [None] * 20
        self.uses = np.zeros(20, np.int64)

    def __len__(self):
        return 20

    def __getitem__(self, index):
        self.uses[index] += 1
        if self.cache[index] is None:
            self.cache[index] = torch.full((2, 2), float(index))
        return self.cache[index] + torch.rand(2, 2), index


def cached():
    return DataLoader(Cached(), batch_size=4, shuffle=True)


class Stored(Dataset):
    """Its connection can be called, and is not there for that."""

    def __init__(self):
        self.db = sqlite3.connect(":memory:")
        self.db.execute("create table rows (x real)")
        self.db.executemany("insert into rows values (?)", [(one / 10,) for one in range(15)])
        self.steps = [np.sqrt, float, torch.tensor]

    def __len__(self):
        return 15

    def __getitem__(self, index):
        (x,) = self.db.execute("select x from rows limit 1 offset ?", (index,)).fetchone()
        for step in self.steps:
            x = step(x)
        return x


def stored():
    return DataLoader(Stored(), batch_size=5, shuffle=True)


def rows_of_numbers():
    return [(torch.tensor([index, index + 1.0]), index % 2) for index in range(12)]
