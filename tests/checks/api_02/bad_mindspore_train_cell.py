"""A training cell of the project's own, and nobody says that it trains."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn


def pipelines(seed=0, size=16):
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((96, 6)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
    train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(size)
    return train, ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(size)


class Net(nn.Cell):
    def __init__(self, rate=0.2):
        super().__init__()
        self.first = nn.Dense(6, 16, activation="relu")
        self.drop = nn.Dropout(p=rate)
        self.last = nn.Dense(16, 2)

    def construct(self, inputs):
        return self.last(self.drop(self.first(inputs)))


def run(epochs):
    ms.set_seed(0)
    train, test = pipelines()
    net = Net()
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.1, momentum=0.9)
    train_cell = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer)
    for epoch in range(epochs):
        for inputs, labels in train.create_tuple_iterator():  # expect: api.02
            loss = train_cell(inputs, labels)
        hits = sum(int((net(inputs).argmax(1) == labels).sum()) for inputs, labels in test.create_tuple_iterator())
        print(epoch, loss, hits / 32)


run(2)
