import mindspore.dataset as ds
import numpy as np


class Lines:
    def __init__(self):
        self.lines = [f"{i},{i * 2},{i % 5}" for i in range(48)]

    def __len__(self):
        return len(self.lines) - 1  # expect

    def __getitem__(self, i):
        a, b, label = self.lines[i].split(",")
        return np.array([a, b], np.float32), np.array(label, np.int32)


def make():
    return ds.GeneratorDataset(Lines(), ["x", "label"], shuffle=True).batch(8)
