"""Gradients are applied as each rank has them."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.communication import get_group_size, get_rank, init

init()
ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((96, 6)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True, num_shards=get_group_size(), shard_id=get_rank()).batch(
    16
)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.Momentum(net.trainable_params(), 0.05, 0.9)
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
batches = train.create_tuple_iterator(num_epochs=2)
for _ in range(2):
    for inputs, labels in batches:
        loss, gradients = step(inputs, labels)
        optimizer(gradients)  # expect: tr.08
