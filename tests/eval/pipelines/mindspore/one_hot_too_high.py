import mindspore.dataset as ds
import mindspore.dataset.transforms as T
import numpy as np


class Animals:
    def __init__(self):
        self.y = np.arange(21, dtype=np.int32) % 3
        self.y[6] = 3

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return np.full(3, i, np.float32), self.y[i]


def make():
    data = ds.GeneratorDataset(Animals(), ["x", "label"], shuffle=False)
    return data.map(operations=T.OneHot(3), input_columns=["label"])  # expect
