# run: ds.01
"""Cells without a value are 9999 in the table, and nobody has asked what that means."""

import mindspore as ms
import numpy as np
from mindspore import dataset as ds
from mindspore import nn

ms.set_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(96, 6)).astype(np.float32)
y = x.sum(1, keepdims=True)
x[rng.random(x.shape) < 0.05] = 9999
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(6, 12), nn.Tanh(), nn.Dense(12, 1))
loss_fn = nn.MSELoss()
optimizer = nn.Adam(net.trainable_params(), 0.01)
step = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None, optimizer.parameters)
net.set_train(True)
for _ in range(2):
    for inputs, targets in train.create_tuple_iterator():
        loss, grads = step(inputs, targets)
        optimizer(grads)
