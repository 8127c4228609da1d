import mindspore.dataset as ds
import numpy as np


class Clips:
    def __init__(self):
        self.x = np.random.default_rng(3).normal(size=(30, 5)).astype(np.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], np.array(i % 2, np.int32)


def make():
    return ds.GeneratorDataset(Clips(), column_names=["clip", "label", "weight"], shuffle=False)  # expect
