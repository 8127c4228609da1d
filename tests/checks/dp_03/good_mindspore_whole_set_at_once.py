# run:
"""A set that is small enough for one batch has no order."""

import mindspore as ms
import numpy as np
from mindspore import nn

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((48, 8)).astype(np.float32)
y = ((x[:, 0] > 0).astype(np.int32) + (x[:, 1] > 0)).astype(np.int32)
inputs, labels = ms.Tensor(x), ms.Tensor(y)
net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
for _ in range(4):
    loss, gradients = step(inputs, labels)
    optimizer(gradients)
