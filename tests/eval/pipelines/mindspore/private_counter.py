import mindspore.dataset as ds
import numpy as np


class Counted:
    def __init__(self):
        self.rows = [np.array([i, i * i], np.float32) for i in range(16)]
        self.at = 0

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[self.at]  # expect
        self.at += 1
        return (row,)


def make():
    return ds.GeneratorDataset(Counted(), ["x"], shuffle=False, num_parallel_workers=1).batch(4)
