"""Rows are filled up with 0, and the mask looks for -1."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops


class Sentences:
    def __init__(self, count, width=8):
        draw = np.random.default_rng(0)
        self.rows = []
        for number in range(count):
            words = draw.integers(1, 30, draw.integers(4, width + 1))
            row = np.zeros(width, np.int32)
            row[: len(words)] = words
            self.rows.append((row, np.int32(number % 2)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


class Reader(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.asked = nn.Dense(16, 1)
        self.out = nn.Dense(16, 2)

    def construct(self, words):
        states = self.embed(words)
        scores = self.asked(states).squeeze(-1)
        scores = scores.masked_fill(words == -1, -1e9)  # expect: dp.04
        weights = ops.softmax(scores, axis=-1)
        return self.out((weights.expand_dims(-1) * states).sum(1))


ms.set_seed(0)
train = ds.GeneratorDataset(Sentences(64), ["x", "y"], shuffle=True).batch(16)
net = Reader()
optimizer = nn.Adam(net.trainable_params(), 0.01)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
net.set_train()
for x, y in train.create_tuple_iterator():
    loss, gradients = step(x, y)
    optimizer(gradients)
