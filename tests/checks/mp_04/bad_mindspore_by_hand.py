"""A scale that is written out stays in the slope that the penalty measures."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((96, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(16)
test = ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.Tanh(), nn.Dense(16, 2))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")


def scaled(inputs):
    return 1024.0 * net(inputs).sum()  # expect: mp.04


slope_of = ms.grad(scaled)


def forward(inputs, labels):
    slope = slope_of(inputs)
    length = ops.sqrt((slope * slope).sum(axis=1) + 1e-12)
    return loss_fn(net(inputs), labels) + 1e-6 * length.mean()


step = ms.value_and_grad(forward, None, optimizer.parameters)
for epoch in range(2):
    net.set_train()
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)

    net.set_train(False)
    hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test.create_tuple_iterator())
    print(epoch, hits / 32)
