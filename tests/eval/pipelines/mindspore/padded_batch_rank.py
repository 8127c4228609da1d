import mindspore.dataset as ds
import numpy as np


class Bags:
    def __init__(self):
        self.rows = [np.ones(1 + i % 6, np.float32) for i in range(24)]
        self.rows[14] = np.ones((2, 3), np.float32)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i], np.array(i, np.int32)


def make():
    data = ds.GeneratorDataset(Bags(), ["bag", "id"], shuffle=False)
    return data.padded_batch(6, pad_info={"bag": ([8], 0)})  # expect
