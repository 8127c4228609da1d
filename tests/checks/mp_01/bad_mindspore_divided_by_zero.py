# run: mp.01 --stats
"""A layer divides by zero."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

ms.set_seed(3)
draw = np.random.default_rng(3)
x = draw.standard_normal((96, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(16)
test = ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(16)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.Dense(6, 16)
        self.head = nn.Dense(16, 2)

    def construct(self, inputs):
        hidden = ops.relu(self.body(inputs))
        hidden = hidden / (hidden - hidden).sum(1, keepdims=True)  # together: mp.01
        return self.head(hidden)


net = Net()
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
loss_fn = nn.CrossEntropyLoss()


def forward(inputs, labels):
    return loss_fn(net(inputs), labels)


step = ms.value_and_grad(forward, None, optimizer.parameters)
for epoch in range(2):
    net.set_train()
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)

    net.set_train(False)
    hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test.create_tuple_iterator())
    print(epoch, hits / 32)
