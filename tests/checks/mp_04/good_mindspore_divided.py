# run:
"""The slope of a scaled loss is divided by the scale before it is squared."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import amp, nn

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((96, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(16)
test = ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
SCALE = 1024.0
scaler = amp.StaticLossScaler(scale_value=SCALE)


def forward(inputs, labels):
    slope = ms.grad(lambda given: scaler.scale(loss_fn(net(given), labels)))(inputs) / SCALE
    return scaler.scale(loss_fn(net(inputs), labels) + 1e-3 * (slope * slope).mean())


step = ms.value_and_grad(forward, None, optimizer.parameters)
for epoch in range(2):
    net.set_train()
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(scaler.unscale(gradients))

    net.set_train(False)
    hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test.create_tuple_iterator())
    print(epoch, hits / 32)
