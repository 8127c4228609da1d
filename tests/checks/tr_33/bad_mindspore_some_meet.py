# run: tr.32 tr.33 --hang-after 5
# launched: 2
"""A sum over ranks that only those make whose batch has more of one class."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops
from mindspore.communication import get_group_size, get_rank, init

ms.set_device("CPU")
init()
rank, world = get_rank(), get_group_size()
ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((96, 8)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
data = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True, num_shards=world, shard_id=rank).batch(16)
net = nn.SequentialCell(nn.Dense(8, 4, has_bias=False), nn.Tanh(), nn.Dense(4, 8, has_bias=False), nn.Dense(8, 2))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
reduce = ops.AllReduce()
net.set_train()
batches = data.create_tuple_iterator(num_epochs=2)
for _ in range(2):
    for inputs, labels in batches:
        loss, gradients = step(inputs, labels)
        gradients = tuple(reduce(gradient) / world for gradient in gradients)
        optimizer(gradients)
        if labels.asnumpy().sum() > 8:
            print(reduce(loss))
