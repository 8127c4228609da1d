"""MindSpore's own numbers, and losses that are reduced by hand."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((64, 6)).astype(np.float32)
y = x[:, :1] * 0.5
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(
    nn.Dense(6, 16),
    nn.BatchNorm1d(16, momentum=0.99),
    nn.ReLU(),
    nn.Dropout(0.9),
    nn.Dense(16, 16),
    nn.Dropout(p=0.1),
    nn.Dense(16, 1),
)
loss_fn = nn.SmoothL1Loss()
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.01)


def forward(inputs, wanted):
    answer = net(inputs)
    return loss_fn(answer, wanted).mean() + 0.1 * ops.mean(ops.smooth_l1_loss(answer, wanted, 1.0))


step = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
for _ in range(2):
    for inputs, wanted in train.create_tuple_iterator():
        loss, gradients = step(inputs, wanted)
        optimizer(gradients)
