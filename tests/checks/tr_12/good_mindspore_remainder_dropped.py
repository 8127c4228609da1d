"""A mean over batches, and the incomplete one is left out."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(0)
draw = np.random.default_rng(1)
x = draw.standard_normal((150, 6)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x[:100], y[:100]), ["x", "y"], shuffle=True).batch(20)
valid = ds.NumpySlicesDataset((x[100:], y[100:]), ["x", "y"], shuffle=False).batch(16, drop_remainder=True)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
cell = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.Adam(net.trainable_params(), 0.01))
batches = train.create_tuple_iterator(num_epochs=2)
for _ in range(2):
    cell.set_train()
    for inputs, labels in batches:
        cell(inputs, labels)
    net.set_train(False)
    shares = []
    for inputs, labels in valid.create_tuple_iterator(num_epochs=1):
        shares.append((net(inputs).argmax(1) == labels).astype(ms.float32).mean().asnumpy())
    print(np.mean(shares))
