import mindspore.dataset as ds
import mindspore.dataset.vision as V
import numpy as np


class RandomSquare:
    def __call__(self, img):
        side = np.random.randint(8, 17)
        return np.ascontiguousarray(img[:side, :side])


def make():
    images = np.random.default_rng(3).integers(0, 256, (20, 16, 16, 3), dtype=np.uint8)
    data = ds.NumpySlicesDataset({"image": images, "label": np.arange(20) % 2}, shuffle=True)
    data = data.map([RandomSquare(), V.Resize((12, 12)), V.HWC2CHW()], ["image"])
    return data.batch(4)
