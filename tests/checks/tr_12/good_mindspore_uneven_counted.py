"""Samples are counted as they come."""

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.dataset import NumpySlicesDataset

ms.set_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(96, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
train = NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(16)
test = NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(20)
EPOCHS = 2
net = nn.SequentialCell(nn.Dense(6, 16), nn.LayerNorm((16,)), nn.ReLU(), nn.Dense(16, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
gradient = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
for epoch in range(EPOCHS):
    net.set_train(True)
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = gradient(inputs, labels)
        optimizer(gradients)
    net.set_train(False)
    hits, seen = 0, 0
    for inputs, labels in test.create_tuple_iterator():
        hits += int((net(inputs).argmax(1) == labels).sum().asnumpy())
        seen += len(labels)
    print(epoch, hits / seen)
