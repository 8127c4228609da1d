"""The mask is as long as the row, and says of every place that there is a word."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn


class Sentences:
    def __init__(self, count, width=8):
        draw = np.random.default_rng(0)
        self.rows = []
        for number in range(count):
            words = draw.integers(1, 30, draw.integers(3, width + 1)).tolist()
            rest = width - len(words)
            row = np.array(words + [0] * rest, np.int32)
            mask = np.array([1] * len(words) + [1] * rest, np.float32)  # expect: dp.04
            self.rows.append((row, mask, np.int32(number % 2)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


class Reader(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        self.out = nn.Dense(16, 2)

    def construct(self, words, mask):
        weight = mask.expand_dims(-1)
        return self.out((self.embed(words) * weight).sum(1) / weight.sum(1))


ms.set_seed(0)
train = ds.GeneratorDataset(Sentences(64), ["words", "mask", "label"], shuffle=True).batch(16)
net = Reader()
optimizer = nn.Adam(net.trainable_params(), 0.01)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda words, mask, label: loss_fn(net(words, mask), label), None, optimizer.parameters)
net.set_train()
for words, mask, label in train.create_tuple_iterator():
    loss, gradients = step(words, mask, label)
    optimizer(gradients)
