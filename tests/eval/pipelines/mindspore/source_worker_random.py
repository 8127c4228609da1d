import mindspore.dataset as ds
import numpy as np


class Mixed:
    def __init__(self):
        self.rng = np.random.RandomState(7)  # expect

    def __len__(self):
        return 20

    def __getitem__(self, i):
        return self.rng.rand(5).astype(np.float32), np.array(i, np.int32)


def make():
    return ds.GeneratorDataset(
        Mixed(), ["x", "id"], shuffle=False, num_parallel_workers=2, python_multiprocessing=True
    ).batch(5)
