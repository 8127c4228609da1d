# run: ds.01
"""A share of a total that is zero for some samples."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn


class Shares:
    def __init__(self):
        draw = np.random.default_rng(1)
        self.counts = draw.integers(0, 6, (32, 8)).astype(np.float32)
        self.counts[4] = 0
        self.labels = draw.integers(0, 3, 32).astype(np.int32)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        row = self.counts[index]
        with np.errstate(all="ignore"):
            return row / row.sum(), self.labels[index]


ms.set_seed(0)
train = ds.GeneratorDataset(Shares(), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
for _ in range(2):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
