"""The data for evaluation is drawn by the same seed as that for training."""

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.dataset import GeneratorDataset
from mindspore.train import Accuracy, Model

ms.set_seed(0)


class Points:
    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(count, 6)).astype(np.float32)
        self.y = (self.x[:, 0] > 0).astype(np.int32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, at):
        return self.x[at], self.y[at]


net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
train = GeneratorDataset(Points(64, 1), ["x", "y"], shuffle=True).batch(16)
valid = GeneratorDataset(Points(64, 1), ["x", "y"], shuffle=False).batch(16)  # expect: tr.07
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
model = Model(net, nn.CrossEntropyLoss(), optimizer, metrics={"accuracy": Accuracy()})
model.fit(2, train, valid, dataset_sink_mode=False)
