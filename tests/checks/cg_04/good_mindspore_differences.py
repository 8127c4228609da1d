"""Answers and targets of one shape; what is averaged is squared or positive."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((64, 6)).astype(np.float32)
y = x[:, 0] * 0.5
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 1))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.01)
loss_fn = nn.MSELoss()


def forward(inputs, wanted):
    answer = net(inputs)
    flat = answer.squeeze(-1)
    return loss_fn(flat, wanted) + ops.square(flat - wanted).mean() + loss_fn(answer, wanted.expand_dims(-1))


step = ms.value_and_grad(forward, None, optimizer.parameters)
for _ in range(2):
    for inputs, wanted in train.create_tuple_iterator():
        loss, gradients = step(inputs, wanted)
        optimizer(gradients)
