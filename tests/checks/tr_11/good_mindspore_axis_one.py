"""Softmax and argmax over axis 1; a mean over axis 0 of the data is no network's answer."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((96, 6)).astype(np.float32) * 3 + 1
y = x[:, :3].argmax(1).astype(np.int32)
x = (x - x[:64].mean(axis=0)) / x[:64].std(axis=0)
train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(16)
test = ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 3))
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
for epoch in range(2):
    net.set_train()
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
    net.set_train(False)
    hits = 0
    for inputs, labels in test.create_tuple_iterator():
        chances = ops.softmax(net(inputs), axis=1)
        hits += int((chances.argmax(axis=1) == labels).sum().asnumpy())
    print(epoch, hits / 32)
