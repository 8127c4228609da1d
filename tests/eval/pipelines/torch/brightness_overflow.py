import numpy as np
from torch.utils.data import Dataset


class Compose:
    def __init__(self, ops):
        self.ops = ops

    def __call__(self, x):
        for op in self.ops:
            x = op(x)
        return x


class Brighten:
    def __init__(self, by):
        self.by = np.uint8(by)

    def __call__(self, img):
        return img + self.by  # expect


class ToFloat:
    def __call__(self, img):
        return img.astype(np.float32) / 255


class Night(Dataset):
    def __init__(self):
        rng = np.random.default_rng(11)
        self.img = rng.integers(10, 120, (24, 8, 8), dtype=np.uint8)
        self.img[15] = rng.integers(220, 256, (8, 8), dtype=np.uint8)
        self.transform = Compose([Brighten(60), ToFloat()])

    def __len__(self):
        return len(self.img)

    def __getitem__(self, i):
        return self.transform(self.img[i]), i % 2


def make():
    return Night()
