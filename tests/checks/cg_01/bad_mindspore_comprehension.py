"""The comprehension repeats a layer that was built before it."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops


def pipelines(seed=0, size=16):
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((96, 6)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
    train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(size)
    return train, ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(size)


class Net(nn.Cell):
    def __init__(self, width=16, depth=3):
        super().__init__()
        self.first = nn.Dense(6, width)
        middle = nn.Dense(width, width, activation="relu")
        self.layers = nn.CellList([middle for _ in range(depth)])  # expect: cg.01
        self.last = nn.Dense(width, 2)

    def construct(self, inputs):
        hidden = ops.relu(self.first(inputs))
        for layer in self.layers:
            hidden = layer(hidden)
        return self.last(hidden)


ms.set_seed(0)
train, _ = pipelines()
net = Net()
cell = nn.TrainOneStepCell(
    nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.SGD(net.trainable_params(), learning_rate=0.1)
)
cell.set_train()
for inputs, labels in train.create_tuple_iterator():
    loss = cell(inputs, labels)
print(loss)
