# run: ds.03
"""A class with a twentieth of the samples of another."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(0)
draw = np.random.default_rng(0)
y = np.repeat([0, 1, 2], [60, 40, 3]).astype(np.int32)
x = (draw.standard_normal((103, 8)) + y[:, None]).astype(np.float32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(32)  # expect: ds.03
net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
for _ in range(1):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
