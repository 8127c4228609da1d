# run: ds.03
"""Each class has a third of the samples of the one before it."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(0)
draw = np.random.default_rng(0)
y = np.repeat([0, 1, 2, 3], [81, 27, 9, 3]).astype(np.int32)
x = (draw.standard_normal((120, 8)) + y[:, None]).astype(np.float32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(32)  # expect: ds.03
net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 4))
optimizer = nn.Momentum(net.trainable_params(), 0.02, 0.9)
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
for _ in range(1):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
