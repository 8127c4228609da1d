"""Layers are collected in a list of Python's."""

import itertools

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
    def __init__(self, widths=(6, 16, 16)):
        super().__init__()
        self.layers = []  # expect: tr.13
        for before, after in itertools.pairwise(widths):
            self.layers.append(nn.Dense(before, after))
        self.head = nn.Dense(widths[-1], 2)

    def construct(self, inputs):
        for layer in self.layers:
            inputs = ops.relu(layer(inputs))
        return self.head(inputs)


ms.set_seed(0)
train, _ = pipelines()
net = Net()
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
for inputs, labels in train.create_tuple_iterator():
    loss, gradients = step(inputs, labels)
    optimizer(gradients)
