# run: tr.19
"""A column cut out of the answers meets targets of shape [N]."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((96, 6)).astype(np.float32)
y = x.sum(1)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)

net = nn.SequentialCell(nn.Dense(6, 16), nn.Tanh(), nn.Dense(16, 1))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)


def forward(inputs, targets):
    column = ops.tanh(net(inputs))[:, 0:1]
    return (column * targets).mean()


step = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
for epoch in range(3):
    for inputs, targets in train.create_tuple_iterator():
        loss, gradients = step(inputs, targets)
        optimizer(gradients)
    print(epoch, loss)
