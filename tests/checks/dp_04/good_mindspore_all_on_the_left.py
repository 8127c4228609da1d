"""Everything stands at the end of its row, also the mask; the last step is the last word."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn


class Sentences:
    def __init__(self, count, width=8):
        draw = np.random.default_rng(0)
        self.rows = []
        for number in range(count):
            words = draw.integers(1, 30, draw.integers(4, width + 1))
            size = len(words)
            x, mask = np.zeros(width, np.int32), np.zeros(width, np.float32)
            x[-size:] = words
            mask[-size:] = 1
            self.rows.append((x, mask, np.int32(size), np.int32(number % 2)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


class Reader(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.out = nn.Dense(16, 2)

    def construct(self, words, mask, size):
        states = self.rnn(self.embed(words) * mask.expand_dims(-1))[0]
        return self.out(states[:, -1] + (states * mask.expand_dims(-1)).sum(1) / size.expand_dims(-1))


ms.set_seed(0)
train = ds.GeneratorDataset(Sentences(64), ["x", "mask", "size", "y"], shuffle=True).batch(16)
net = Reader()
optimizer = nn.Adam(net.trainable_params(), 0.01)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda x, mask, size, y: loss_fn(net(x, mask, size), y), None, optimizer.parameters)
net.set_train()
for x, mask, size, y in train.create_tuple_iterator():
    loss, gradients = step(x, mask, size, y)
    optimizer(gradients)
