# run: dp.01
"""Pixels from 0 to 255 enter the first convolution."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(0)
draw = np.random.default_rng(0)
pixels = draw.integers(0, 256, (32, 3, 8, 8)).astype(np.uint8)
y = (pixels[:, 0].mean((1, 2)) > 127).astype(np.int32)
train = ds.NumpySlicesDataset((pixels.astype(np.float32), y), ["x", "y"], shuffle=True).batch(16)  # expect: dp.01
net = nn.SequentialCell(nn.Conv2d(3, 4, 3, pad_mode="valid"), nn.ReLU(), nn.Flatten(), nn.Dense(144, 2))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.01)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
for _ in range(1):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
