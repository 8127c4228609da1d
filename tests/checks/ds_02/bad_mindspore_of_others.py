"""Every fifth label is that of a sample far away."""

import mindspore as ms
import numpy as np
from mindspore import dataset as ds
from mindspore import nn

table = np.load("readings.npz")
x, y = table["x"].astype(np.float32), table["y"].astype(np.int32)
for i in range(0, len(y), 5):
    y[i] = y[(3 * i + 11) % len(y)]  # expect: ds.02
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = nn.Dense(6, 4)
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), 0.1)
step = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None, optimizer.parameters)
net.set_train(True)
for _ in range(3):
    for inputs, labels in train.create_tuple_iterator():
        loss, grads = step(inputs, labels)
        optimizer(grads)
