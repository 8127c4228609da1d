# run: dp.03
"""A generator that gives one class after the other, which nothing shuffles."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn


def samples():
    draw = np.random.default_rng(0)
    for label in (0, 1, 2):
        for _ in range(32):
            yield (draw.standard_normal(8) + label).astype(np.float32), np.int32(label)


ms.set_seed(0)
train = ds.GeneratorDataset(samples, ["x", "y"], shuffle=False).batch(32)  # expect: dp.03
net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
for _ in range(2):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
