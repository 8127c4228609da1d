# The benchmark of the scripts beside it.
"""The labels as they should be."""

import mindspore as ms
import numpy as np
from mindspore import dataset as ds
from mindspore import nn

ms.set_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(96, 8)).astype(np.float32)
y = ((x[:, 0] > 0).astype(np.int32) + (x[:, 1] > 0)).astype(np.int32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), 0.05)
step = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None, optimizer.parameters)
net.set_train(True)
for _ in range(2):
    for inputs, labels in train.create_tuple_iterator():
        loss, grads = step(inputs, labels)
        optimizer(grads)
