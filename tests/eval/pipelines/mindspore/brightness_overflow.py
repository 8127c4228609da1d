import mindspore.dataset as ds
import numpy as np


class Brighten:
    def __init__(self, by):
        self.by = np.uint8(by)

    def __call__(self, img):
        return img + self.by  # expect


class ToFloat:
    def __call__(self, img):
        return img.astype(np.float32) / 255


class Night:
    def __init__(self):
        rng = np.random.default_rng(11)
        self.img = rng.integers(10, 120, (24, 8, 8), dtype=np.uint8)
        self.img[15] = rng.integers(220, 256, (8, 8), dtype=np.uint8)

    def __len__(self):
        return len(self.img)

    def __getitem__(self, i):
        return (self.img[i],)


def make():
    return ds.GeneratorDataset(Night(), ["img"], shuffle=False).map([Brighten(60), ToFloat()], ["img"])
