"""Numbers that are at home in torch, and a loss that is not reduced."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((64, 6)).astype(np.float32)
y = x[:, :1] * 0.5
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(
    nn.Dense(6, 16),
    nn.BatchNorm1d(16, momentum=0.1),  # expect: api.01
    nn.ReLU(),
    nn.Dropout(0.1),  # expect: api.01
    nn.Dense(16, 1),
)
loss_fn = nn.SmoothL1Loss()  # expect: api.01
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.01)


def forward(inputs, wanted):
    return loss_fn(net(inputs), wanted) * 0.5


step = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
for _ in range(2):
    for inputs, wanted in train.create_tuple_iterator():
        loss, gradients = step(inputs, wanted)
        optimizer(gradients)
