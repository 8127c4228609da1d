"""The collate function fills up on the left, and the network reads at the length, as if it were on the right."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops


class Series:
    def __init__(self, count):
        draw = np.random.default_rng(0)
        self.rows = [draw.standard_normal((int(draw.integers(3, 9)), 4)).astype(np.float32) for _ in range(count)]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index], np.int32(len(self.rows[index])), np.int32(index % 2)


def collate(series, lengths, labels, info):
    out = np.zeros((len(series), max(len(one) for one in series), 4), np.float32)
    for row, one in zip(out, series, strict=True):
        row[-len(one) :] = one  # expect: dp.04
    return out, np.stack(lengths), np.stack(labels)


class Reader(nn.Cell):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(4, 16, batch_first=True)
        self.out = nn.Dense(16, 2)

    def construct(self, x, lengths):
        states = self.rnn(x)[0]
        last = ops.arange(x.shape[1]).expand_dims(0) == (lengths - 1).expand_dims(-1)
        return self.out((states * last.astype(ms.float32).expand_dims(-1)).sum(1))


ms.set_seed(0)
train = ds.GeneratorDataset(Series(64), ["x", "lengths", "y"], shuffle=True).batch(16, per_batch_map=collate)
net = Reader()
optimizer = nn.Adam(net.trainable_params(), 0.01)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda x, lengths, y: loss_fn(net(x, lengths), y), None, optimizer.parameters)
net.set_train()
for x, lengths, y in train.create_tuple_iterator():
    loss, gradients = step(x, lengths, y)
    optimizer(gradients)
