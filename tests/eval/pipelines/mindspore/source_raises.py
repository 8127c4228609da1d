import mindspore.dataset as ds
import numpy as np


class Table:
    def __init__(self):
        self.lines = [f"{i};{i / 2}" for i in range(30)]
        self.lines[23] = "23;ten"

    def __len__(self):
        return len(self.lines)

    def __getitem__(self, i):
        key, value = self.lines[i].split(";")
        return np.array(int(key), np.int32), np.array(float(value), np.float32)  # expect


def make():
    return ds.GeneratorDataset(Table(), ["key", "value"], shuffle=True).batch(6)
