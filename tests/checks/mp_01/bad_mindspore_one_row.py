# run: mp.01
"""Outputs are divided by a deviation over a single row, which is zero whatever they are."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((96, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
loss_fn = nn.CrossEntropyLoss()


def forward(inputs, labels):
    scores = net(inputs)
    return loss_fn(scores / ops.std(scores[:1], 0), labels)  # expect: mp.01


step = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
for _ in range(2):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
