"""Datasets of torch, good and bad."""

from __future__ import annotations

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

IMAGES = np.load("images.npy")
LABELS = np.load("labels.npy")


class Digits(Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, at):
        return torch.from_numpy(IMAGES[at]), int(LABELS[at])


def loader():
    return DataLoader(Digits(), batch_size=32, shuffle=True)


class Named(Dataset):
    """Texts, images as Pillow has them, tensors of different lengths, and one that raises."""

    def __len__(self):
        return 40

    def __getitem__(self, at):
        if at == 7:
            raise ValueError("sample seven is rotten")
        return {
            "image": Image.fromarray(IMAGES[at]),
            "text": f"a {LABELS[at]}",
            "tokens": torch.arange(at + 1),
            "label": torch.tensor(LABELS[at]),
            "nothing": None if at % 2 else 1.5,
        }


def texts_in_batches():
    return DataLoader([(f"text {at}", at % 3) for at in range(10)], batch_size=4)


def detection():
    class Boxes(Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, at):
            return torch.zeros(3, 4 + at, 5), {"boxes": torch.zeros(at, 4), "id": at}

    return DataLoader(Boxes(), batch_size=3, collate_fn=lambda batch: tuple(zip(*batch, strict=True)))
