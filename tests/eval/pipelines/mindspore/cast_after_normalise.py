import mindspore as ms
import mindspore.dataset as ds
import mindspore.dataset.transforms as T
import mindspore.dataset.vision as V
import numpy as np


def make():
    images = np.random.default_rng(10).integers(0, 256, (20, 10, 10, 3), dtype=np.uint8)
    data = ds.NumpySlicesDataset({"image": images, "label": np.arange(20) % 2}, shuffle=False)
    data = data.map(V.Normalize([128.0] * 3, [4.0] * 3), input_columns="image")
    data = data.map(T.TypeCast(ms.uint8), input_columns="image")  # expect
    return data.batch(5)
