import mindspore.dataset as ds
import numpy as np


class Scale:
    def __call__(self, x):
        return x.astype(np.float32) / 255


class MedianFilter:
    def __call__(self, x):
        out = x.copy()
        for r in range(1, x.shape[0] - 1):
            for c in range(1, x.shape[1] - 1):
                out[r, c] = sorted(x[r - 1 : r + 2, c - 1 : c + 2].ravel().tolist())[4]  # expect
        return out


class AddChannel:
    def __call__(self, x):
        return x[None]


def make():
    raw = np.random.default_rng(7).integers(0, 256, (32, 48, 48), dtype=np.uint8)
    data = ds.NumpySlicesDataset((raw, np.arange(32) % 2), ["scan", "label"], shuffle=False)
    return data.map([Scale(), MedianFilter(), AddChannel()], ["scan"]).batch(8)
