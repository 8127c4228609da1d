"""Inputs and targets are filled with the same piece of a sentence."""

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.dataset import GeneratorDataset

ms.set_seed(0)


def framed(tokens, length):
    x = np.zeros(length, np.int32)
    y = np.zeros(length, np.int32)
    x[: len(tokens) - 1] = tokens[:-1]
    y[: len(tokens) - 1] = tokens[:-1]  # expect: tr.10
    return x, y


class Sentences:
    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.tokens = rng.integers(0, 12, (count, 9))

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, at):
        return framed(self.tokens[at], 8)


train = GeneratorDataset(Sentences(64, 0), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Embedding(12, 16), nn.Dense(16, 12))
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)


def loss_of(x, y):
    return loss_fn(net(x).reshape(-1, 12), y.reshape(-1))


gradient = ms.value_and_grad(loss_of, None, optimizer.parameters)
for epoch in range(2):
    net.set_train(True)
    for x, y in train.create_tuple_iterator():
        loss, gradients = gradient(x, y)
        optimizer(gradients)
    print(epoch, loss)
