# run:
"""Only the teacher's target is cut off."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

ms.set_seed(2)
draw = np.random.default_rng(2)
x = draw.standard_normal((96, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(16)
test = ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
teacher = nn.Dense(6, 2)
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
loss_fn = nn.CrossEntropyLoss()


def forward(inputs, labels):
    soft = ops.stop_gradient(ops.softmax(teacher(inputs), -1))
    logits = net(inputs)
    return loss_fn(logits, labels) + 0.1 * ops.reduce_mean(-soft * ops.log_softmax(logits, -1))


step = ms.value_and_grad(forward, None, optimizer.parameters)
for epoch in range(2):
    net.set_train()
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)

    net.set_train(False)
    hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test.create_tuple_iterator())
    print(epoch, hits / 32)
