import random

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset


class RandomCrop:
    def __call__(self, img):
        side = random.randint(8, 16)
        x, y = random.randint(0, 16 - side), random.randint(0, 16 - side)
        return img.crop((x, y, x + side, y + side))


class Resize:
    def __call__(self, img):
        return img.resize((12, 12))


class ToTensor:
    def __call__(self, img):
        return torch.from_numpy(np.array(img, np.float32) / 255)


class Pictures(Dataset):
    def __init__(self):
        raw = np.random.default_rng(3).integers(0, 256, (20, 16, 16), dtype=np.uint8)
        self.images = [Image.fromarray(a) for a in raw]
        self.transform = [RandomCrop(), Resize(), ToTensor()]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        x = self.images[i]
        for t in self.transform:
            x = t(x)
        return x, i % 2


def make():
    return DataLoader(Pictures(), batch_size=4, shuffle=True)
