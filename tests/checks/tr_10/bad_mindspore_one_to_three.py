"""Labels are drawn from 1 to 3, the outputs count from 0."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Model


class Kinds:
    def __init__(self, count):
        draw = np.random.default_rng(0)
        self.kind = draw.integers(1, 4, count).astype(np.int32)  # expect: tr.10
        self.x = (draw.standard_normal((count, 6)) + self.kind[:, None]).astype(np.float32)

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, index):
        return self.x[index], self.kind[index]


ms.set_seed(0)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 3))
model = Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01))
model.train(2, ds.GeneratorDataset(Kinds(96), ["x", "kind"], shuffle=True).batch(16), dataset_sink_mode=False)
