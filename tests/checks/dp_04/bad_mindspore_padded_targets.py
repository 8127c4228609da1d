"""Targets are filled up with the id of padding, and the loss ignores another one."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

PAD, IGNORE = 0, -100


def encode(words, length):
    x = np.full(length, PAD, np.int32)
    y = np.full(length, PAD, np.int32)  # expect: dp.04
    count = len(words) - 1
    x[:count] = words[:-1]
    y[:count] = words[1:]
    return x, y


class Corpus:
    def __init__(self, count):
        draw = np.random.default_rng(0)
        self.rows = [encode(draw.integers(1, 20, draw.integers(4, 9)), 10) for _ in range(count)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


class Writer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.out = nn.Dense(16, 20)

    def construct(self, words):
        return self.out(self.embed(words))


ms.set_seed(0)
net = Writer()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)


def forward(words, wanted):
    return ops.cross_entropy(net(words).reshape(-1, 20), wanted.reshape(-1), ignore_index=IGNORE)


step = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
for words, wanted in ds.GeneratorDataset(Corpus(64), ["x", "y"], shuffle=True).batch(16).create_tuple_iterator():
    loss, gradients = step(words, wanted)
    optimizer(gradients)
