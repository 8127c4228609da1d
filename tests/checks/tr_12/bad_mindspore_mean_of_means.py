"""Accuracies of batches are collected and averaged, the small last one like the others."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn


def pipeline(count, seed, training):
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((count, 6)).astype(np.float32)
    y = (x[:, 0] > x[:, 1]).astype(np.int32)
    return ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=training).batch(16, drop_remainder=training)


def evaluate(net, batches):
    net.set_train(False)
    shares = []
    for inputs, labels in batches:
        shares.append(float((net(inputs).argmax(axis=1) == labels).astype(ms.float32).mean().asnumpy()))
    return np.mean(shares)  # expect: tr.12


ms.set_seed(0)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
train = pipeline(96, 1, True).create_tuple_iterator(num_epochs=2)
valid = pipeline(50, 2, False).create_tuple_iterator(num_epochs=2)
for epoch in range(2):
    net.set_train()
    for inputs, labels in train:
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
    print(epoch, evaluate(net, valid))
