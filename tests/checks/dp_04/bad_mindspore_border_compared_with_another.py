"""The border of a mask is 255, and the loss looks for 254 to leave it out."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops


class Squares:
    def __init__(self, count, size=8):
        draw = np.random.default_rng(0)
        self.x = draw.standard_normal((count, 1, size, size)).astype(np.float32)
        self.y = np.zeros((count, size, size), np.int32)
        for x, y in zip(self.x, self.y, strict=True):
            top = int(draw.integers(0, size - 4))
            x[0, top : top + 4, 2:6] += 2
            y[top : top + 4, 2:6] = 255
            y[top + 1 : top + 3, 3:5] = 1

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


ms.set_seed(0)
train = ds.GeneratorDataset(Squares(64), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Conv2d(1, 8, 3, has_bias=True), nn.ReLU(), nn.Conv2d(8, 2, 1, has_bias=True))
optimizer = nn.Adam(net.trainable_params(), 0.01)


def forward(x, y):
    told = ops.log_softmax(net(x), axis=1)
    counts = (y != 254).astype(ms.float32)  # expect: dp.04
    there = (y == 1).astype(ms.float32)
    return -(there * told[:, 1] + (counts - there) * told[:, 0]).sum() / counts.sum()


step = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
for x, y in train.create_tuple_iterator():
    loss, gradients = step(x, y)
    optimizer(gradients)
