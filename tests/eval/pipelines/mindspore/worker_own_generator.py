import mindspore.dataset as ds
import numpy as np


class Jitter:
    def __init__(self, scale):
        self.scale = scale
        self.rng = np.random.default_rng(0)  # expect

    def __call__(self, x):
        return (x + self.rng.normal(0, self.scale, x.shape)).astype(np.float32)


def make():
    data = ds.NumpySlicesDataset({"x": np.zeros((32, 4), np.float32)}, shuffle=False)
    return data.map(Jitter(0.1), ["x"], python_multiprocessing=True, num_parallel_workers=2)
