"""The first layer is cut off the list of parameters."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(3)
draw = np.random.default_rng(3)
x = draw.standard_normal((64, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
optimizer = nn.SGD(net.trainable_params()[2:], learning_rate=0.1)  # expect: cg.02
loss_fn = nn.CrossEntropyLoss()


def forward(inputs, labels):
    return loss_fn(net(inputs), labels)


step = ms.value_and_grad(forward, None, optimizer.parameters)
for _ in range(2):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
