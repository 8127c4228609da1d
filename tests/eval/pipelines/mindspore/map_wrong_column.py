import mindspore.dataset as ds
import numpy as np


def to_unit(x):
    return x.astype(np.float32) / 255


def make():
    rng = np.random.default_rng(6)
    images = rng.integers(0, 256, (16, 6, 6), dtype=np.uint8)
    data = ds.NumpySlicesDataset({"image": images, "label": np.arange(16) % 2}, shuffle=False)
    data = data.map(operations=[to_unit], input_columns=["img"])  # expect
    return data.batch(4)
