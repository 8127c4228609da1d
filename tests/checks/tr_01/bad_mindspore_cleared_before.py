"""The buffers are set to zero before the update that should use them."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((96, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(16)
test = ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.01)
loss_fn = nn.CrossEntropyLoss()


def forward(inputs, labels):
    return loss_fn(net(inputs), labels) / 2


step = ms.value_and_grad(forward, None, optimizer.parameters)
sums = [ms.Parameter(ops.zeros_like(one), name=f"sum.{one.name}") for one in optimizer.parameters]
for epoch in range(2):
    net.set_train()
    for number, (inputs, labels) in enumerate(train.create_tuple_iterator(), 1):
        loss, gradients = step(inputs, labels)
        for held, one in zip(sums, gradients, strict=True):
            ops.assign_add(held, one)
        if number % 2 == 0:
            for held in sums:
                ops.assign(held, ops.zeros_like(held))
            optimizer(tuple(sums))  # expect: tr.01

    net.set_train(False)
    hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test.create_tuple_iterator())
    print(epoch, hits / 32)
