import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, x):
        for t in self.transforms:
            x = t(x)
        return x


class CenterCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, img):
        h, w = img.shape[:2]
        if h < self.size or w < self.size:
            raise ValueError(f"crop size {self.size} is larger than image {h}x{w}")  # expect
        top, left = (h - self.size) // 2, (w - self.size) // 2
        return img[top : top + self.size, left : left + self.size]


class ToTensor:
    def __call__(self, img):
        return torch.from_numpy(np.ascontiguousarray(img.transpose(2, 0, 1))).float() / 255


class Images(Dataset):
    def __init__(self, transform=None):
        rng = np.random.default_rng(0)
        shapes = [(32, 32, 3)] * 32
        shapes[13] = (20, 12, 3)
        self.images = [rng.integers(0, 256, s, dtype=np.uint8) for s in shapes]
        self.labels = [i % 4 for i in range(32)]
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = self.images[i]
        if self.transform:
            img = self.transform(img)
        return img, self.labels[i]


def make():
    return DataLoader(Images(Compose([CenterCrop(24), ToTensor()])), batch_size=8, shuffle=False)
