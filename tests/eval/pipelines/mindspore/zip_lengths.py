import mindspore.dataset as ds
import numpy as np


def make():
    images = ds.NumpySlicesDataset({"image": np.ones((32, 4), np.float32)}, shuffle=False)
    labels = ds.NumpySlicesDataset({"label": np.arange(26, dtype=np.int32) % 2}, shuffle=False)
    return ds.zip((images, labels)).batch(2)  # expect
