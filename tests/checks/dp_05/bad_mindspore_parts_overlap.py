# run: dp.05
# ranks: 2
"""Parts that are cut with the wrong step."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.communication import get_group_size, get_rank, init

ms.set_device("CPU")
init()
rank, world = get_rank(), get_group_size()
ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((64, 8)).astype(np.float32)
y = ((x[:, 0] > 0).astype(np.int32) + (x[:, 1] > 0)).astype(np.int32)
start = rank * 8
own = (x[start : start + 32], y[start : start + 32])  # expect: dp.05
train = ds.NumpySlicesDataset(own, ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 3))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
reduce = nn.DistributedGradReducer(optimizer.parameters, mean=True, degree=world)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
for _ in range(1):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(reduce(gradients))
