"""Gaps of a series are filled with NaN by a helper, and nothing takes them out."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn


def series(count, seed):
    draw = np.random.default_rng(seed)
    values = draw.standard_normal((count, 6)).astype(np.float32)
    target = values.sum(1, keepdims=True)
    values[draw.integers(0, count, 4), 2] = np.nan  # expect: ds.01
    return values, target


ms.set_seed(0)
train = ds.NumpySlicesDataset(series(64, 0), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(6, 8), nn.Tanh(), nn.Dense(8, 1))
cell = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.001))
cell.set_train()
batches = train.create_tuple_iterator(num_epochs=2)
for _ in range(2):
    for x, y in batches:
        cell(x, y)
