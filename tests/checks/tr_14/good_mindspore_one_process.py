# run:
"""A generator in the source, which one process alone draws from; the data itself is drawn once."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Model


class Noisy:
    def __init__(self, count, seed):
        self.draw = np.random.default_rng(seed)
        self.x = self.draw.uniform(-1, 1, (count, 1)).astype(np.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index] + self.draw.normal(0, 0.1, 1).astype(np.float32), self.x[index] ** 2


ms.set_seed(0)
data = ds.GeneratorDataset(Noisy(64, 3), ["x", "y"], shuffle=True, num_parallel_workers=1).batch(16)
net = nn.SequentialCell(nn.Dense(1, 16), nn.Tanh(), nn.Dense(16, 1))
model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01))
model.train(2, data, dataset_sink_mode=False)
