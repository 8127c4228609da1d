"""Five kinds, four outputs."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Model


class Kinds:
    def __init__(self, count):
        draw = np.random.default_rng(0)
        self.y = (np.arange(count) % 5).astype(np.int32)  # expect: ds.02
        self.x = (draw.standard_normal((count, 6)) + self.y[:, None]).astype(np.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


ms.set_seed(0)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 4))
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(net, loss, nn.Adam(net.trainable_params(), 0.01))
model.train(2, ds.GeneratorDataset(Kinds(80), ["x", "y"], shuffle=True).batch(16), dataset_sink_mode=False)
