"""One layer is given the bias of another one."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self, width=16):
        super().__init__()
        self.first = nn.Dense(6, width).to_float(ms.float16)
        self.second = nn.Dense(width, width).to_float(ms.float16)
        self.last = nn.Dense(width, 2)
        self.second.bias = self.first.bias  # expect: cg.01

    def construct(self, inputs):
        hidden = ops.relu(self.second(ops.relu(self.first(inputs))))
        return self.last(hidden.astype(ms.float32))


ms.set_seed(3)
draw = np.random.default_rng(3)
x = draw.standard_normal((64, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = Net()
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1, loss_scale=1024.0)
loss_fn = nn.CrossEntropyLoss()


def forward(inputs, labels):
    return loss_fn(net(inputs), labels) * 1024.0


step = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
for _ in range(2):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
