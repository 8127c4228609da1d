"""Hits and samples are added up, and divided once."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((146, 6)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x[:96], y[:96]), ["x", "y"], shuffle=True).batch(16)
valid = ds.NumpySlicesDataset((x[96:], y[96:]), ["x", "y"], shuffle=False).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
batches, checks = train.create_tuple_iterator(num_epochs=2), valid.create_tuple_iterator(num_epochs=2)
for _ in range(2):
    net.set_train()
    total = 0.0
    for inputs, labels in batches:
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
        total += float(loss.asnumpy())
    net.set_train(False)
    hits = count = 0
    for inputs, labels in checks:
        hits += int((net(inputs).argmax(1) == labels).sum().asnumpy())
        count += len(labels)
    print(total / train.get_dataset_size(), hits / count)
