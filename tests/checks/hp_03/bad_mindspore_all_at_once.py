# run: hp.03
"""A pipeline asked for its own size: all samples are one batch."""

import mindspore as ms
import numpy as np
from mindspore import dataset as ds
from mindspore import nn

ms.set_seed(0)
x = np.random.default_rng(0).normal(size=(160, 5)).astype(np.float32)
rows = ds.NumpySlicesDataset((x, x.sum(1, keepdims=True)), ["x", "y"], shuffle=True)
train = rows.batch(rows.get_dataset_size())  # expect: hp.03
net = nn.Dense(5, 1)
loss_fn = nn.MSELoss()
optimizer = nn.SGD(net.trainable_params(), 0.05)
step = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None, optimizer.parameters)
net.set_train(True)
for _ in range(4):
    for inputs, targets in train.create_tuple_iterator():
        loss, grads = step(inputs, targets)
        optimizer(grads)
