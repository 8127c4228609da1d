import mindspore.dataset as ds
import numpy as np


def random_shift(x):
    return x + np.random.normal(0, 1, x.shape).astype(np.float32)  # expect


class Rows:
    def __len__(self):
        return 24

    def __getitem__(self, i):
        return np.zeros(8, np.float32), np.array(i, np.int32)


def make():
    data = ds.GeneratorDataset(Rows(), ["x", "id"], shuffle=False)
    data = data.map(operations=[random_shift], input_columns=["x"], python_multiprocessing=True, num_parallel_workers=2)
    return data.batch(4)
