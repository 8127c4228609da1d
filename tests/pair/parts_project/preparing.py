"""Transforms as a user writes them: on arrays, and from arrays to tensors."""

from __future__ import annotations

import numpy as np


class Resize:
    def __init__(self, size: tuple[int, int], kind: int = 2) -> None:
        self.size, self.kind = size, kind

    def __call__(self, picture):
        from PIL import Image

        return np.asarray(Image.fromarray(picture).resize(self.size[::-1], self.kind))


class Crop:
    def __init__(self, size: int, off: int = 0) -> None:
        self.size, self.off = size, off

    def __call__(self, picture):
        top, left = ((side - self.size) // 2 + self.off for side in picture.shape[:2])
        return picture[top : top + self.size, left : left + self.size]


class ToTensor:
    def __call__(self, picture):
        import torch

        return torch.from_numpy(np.ascontiguousarray(picture.transpose(2, 0, 1))).float() / 255


class Normalise:
    def __init__(self, mean, std) -> None:
        self.mean, self.std = mean, std

    def __call__(self, picture):
        import torch

        return (picture - torch.tensor(self.mean).reshape(3, 1, 1)) / torch.tensor(self.std).reshape(3, 1, 1)


class Swapped:
    def __call__(self, picture):
        return picture[..., ::-1]


class Mirrored:
    def __call__(self, picture):
        return picture[:, ::-1]


class MirroredByChance:
    def __call__(self, picture):
        return picture[:, ::-1] if np.random.rand() > 0.5 else picture


class ShiftedFreely:
    def __init__(self) -> None:
        self.random = np.random.default_rng()

    def __call__(self, picture):
        return np.roll(picture, int(self.random.integers(picture.shape[1])), axis=1)
