# port-of: bench_torch_spread.py
"""The same spread as in torch, written down."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

ms.set_seed(0)
np.random.seed(0)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(16, 8)
        self.last = nn.Dense(8, 3)

    def construct(self, x):
        x = ops.relu(self.first(x))
        x = x / (ops.std(x, 0, ddof=1, keepdims=True) + 1e-3)
        return self.last(x)


x = np.random.randn(48, 16).astype(np.float32)
y = (np.arange(48) % 3).astype(np.int32)
net = Net()
net.set_train()
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
step = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None, optimizer.parameters)
for _ in range(2):
    order = np.random.permutation(48)
    for at in range(0, 48, 16):
        part = order[at : at + 16]
        loss, grads = step(ms.Tensor(x[part]), ms.Tensor(y[part]))
        optimizer(grads)
