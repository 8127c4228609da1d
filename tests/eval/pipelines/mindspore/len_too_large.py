import mindspore.dataset as ds
import numpy as np


class Windows:
    def __init__(self, values, width):
        self.values = values
        self.items = [values[i : i + width] for i in range(len(values) - width)]

    def __len__(self):
        return len(self.values)  # expect

    def __getitem__(self, i):
        return (self.items[i],)


def make():
    values = np.sin(np.arange(40) / 5).astype(np.float32)
    return ds.GeneratorDataset(Windows(values, 4), ["window"], shuffle=False).batch(6)
