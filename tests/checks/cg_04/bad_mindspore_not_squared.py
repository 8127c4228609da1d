"""The difference is averaged as it is, beside a term that is right."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((64, 6)).astype(np.float32)
y = x[:, :1] * 0.5
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 1))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.01)


def forward(inputs, wanted):
    answer = net(inputs)
    far = (answer - wanted).mean()  # expect: cg.04
    return 0.1 * ops.abs(answer).mean() + far


step = ms.value_and_grad(forward, None, optimizer.parameters)
for _ in range(2):
    for inputs, wanted in train.create_tuple_iterator():
        loss, gradients = step(inputs, wanted)
        optimizer(gradients)
