"""Words stand at the end of their row, and what they are to be followed by at its beginning."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn


class Sentences:
    def __init__(self, count, width=8):
        draw = np.random.default_rng(0)
        self.rows = []
        for _ in range(count):
            words = draw.integers(1, 30, draw.integers(4, width + 1))
            size = len(words) - 1
            x = np.zeros(width, np.int32)
            y = np.full(width, -100, np.int32)
            x[-size:] = words[:-1]  # expect: dp.04
            y[:size] = words[1:]
            self.rows.append((x, y))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index]


class Writer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.out = nn.Dense(16, 30)

    def construct(self, words):
        return self.out(self.rnn(self.embed(words))[0])


ms.set_seed(0)
train = ds.GeneratorDataset(Sentences(64), ["x", "y"], shuffle=True).batch(16)
net = Writer()
optimizer = nn.Adam(net.trainable_params(), 0.01)
loss_fn = nn.CrossEntropyLoss(ignore_index=-100)
step = ms.value_and_grad(lambda x, y: loss_fn(net(x).reshape(-1, 30), y.reshape(-1)), None, optimizer.parameters)
net.set_train()
for x, y in train.create_tuple_iterator():
    loss, gradients = step(x, y)
    optimizer(gradients)
