# run: tr.05
"""Biases are spared, and the weight of the normalisation is not."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(3)
draw = np.random.default_rng(3)
x = draw.standard_normal((96, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(16)
test = ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(p=0.2), nn.Dense(16, 2))
spared = [one for one in net.trainable_params() if one.name.endswith(("bias", "beta"))]
others = [one for one in net.trainable_params() if not one.name.endswith(("bias", "beta"))]
groups = [{"params": spared, "weight_decay": 0.0}, {"params": others, "weight_decay": 0.01}]
optimizer = nn.AdamWeightDecay(groups, learning_rate=0.01)
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
