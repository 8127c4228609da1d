# run: tr.32
# ranks: 2
"""Each rank begins with another of two gradients of as many elements, in a cell."""

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


class Reducer(nn.Cell):
    def __init__(self, first):
        super().__init__()
        self.order = (first, 1 - first, 2, 3)
        self.reduce = ops.AllReduce()

    def construct(self, gradients):
        reduced = {place: self.reduce(gradients[place]) / world for place in self.order}
        return tuple(reduced[place] for place in range(4))


reducer = Reducer(rank)
net.set_train()
batches = data.create_tuple_iterator(num_epochs=2)
for _ in range(2):
    for inputs, labels in batches:
        loss, gradients = step(inputs, labels)
        gradients = reducer(gradients)
        optimizer(gradients)
