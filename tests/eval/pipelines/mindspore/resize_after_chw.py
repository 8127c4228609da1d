import mindspore.dataset as ds
import mindspore.dataset.vision as V
import numpy as np


def make():
    images = np.random.default_rng(13).integers(0, 256, (16, 16, 16, 3), dtype=np.uint8)
    data = ds.NumpySlicesDataset({"image": images}, shuffle=False)
    data = data.map(
        operations=[
            V.HWC2CHW(),
            V.Resize((8, 8)),  # expect
        ],
        input_columns=["image"],
    )
    return data.batch(4)
