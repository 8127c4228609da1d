"""Sigmoid with BCELoss, logits with BCEWithLogitsLoss, and a sigmoid for reading only."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops


def pipelines(seed=0, size=16):
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((96, 6)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
    train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(size)
    return train, ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(size)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(6, 16, activation="tanh")
        self.sure = nn.SequentialCell(nn.Dense(16, 1), nn.Sigmoid())
        self.raw = nn.Dense(16, 1)

    def construct(self, inputs):
        hidden = self.first(inputs)
        return self.sure(hidden).squeeze(-1), self.raw(hidden).squeeze(-1)


ms.set_seed(0)
train, test = pipelines()
net = Net()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
bce, with_logits = nn.BCELoss(reduction="mean"), nn.BCEWithLogitsLoss()


def forward(inputs, labels):
    chance, logit = net(inputs)
    target = labels.astype(ms.float32)
    return bce(chance, target) + with_logits(logit, target)


step = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
for inputs, labels in train.create_tuple_iterator():
    loss, gradients = step(inputs, labels)
    optimizer(gradients)
net.set_train(False)
for inputs, labels in test.create_tuple_iterator():
    print(float(((ops.sigmoid(net(inputs)[1]) > 0.5) == (labels > 0)).astype(ms.float32).mean()))
