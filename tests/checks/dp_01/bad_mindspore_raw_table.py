# run: dp.01
"""A table in its own units: years, metres, and a price."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(0)
draw = np.random.default_rng(0)
table = np.stack([draw.integers(1950, 2020, 48), draw.normal(80, 20, 48), draw.normal(3e5, 5e4, 48)], 1).astype(
    np.float32
)
y = (table[:, 1] > 80).astype(np.int32)
train = ds.NumpySlicesDataset((table, y), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(3, 8), nn.Tanh(), nn.Dense(8, 2))
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.001)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
for _ in range(1):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
