"""All cells of a kind get constant weights, one after the other."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.common.initializer import Constant, initializer


def pipelines(seed=0, size=16):
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((96, 6)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
    train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(size)
    return train, ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(size)


class Net(nn.Cell):
    def __init__(self, width=16):
        super().__init__()
        self.first = nn.Dense(6, width)
        self.second = nn.Dense(width, width)
        self.last = nn.Dense(width, 2)
        for _, cell in self.cells_and_names():
            if isinstance(cell, nn.Dense):
                cell.weight.set_data(initializer(Constant(0.05), cell.weight.shape, cell.weight.dtype))  # expect: wi.01

    def construct(self, inputs):
        return self.last(self.second(self.first(inputs).tanh()).tanh())


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
