"""A cell gives probabilities to a loss that takes logits, through Model."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Model


def pipelines(seed=0, size=16):
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((96, 6)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
    train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(size)
    return train, ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(size)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(6, 16)
        self.act = nn.ReLU()
        self.last = nn.Dense(16, 2)
        self.softmax = nn.Softmax(axis=-1)

    def construct(self, inputs):
        hidden = self.act(self.first(inputs))
        return self.softmax(self.last(hidden))  # expect: cg.04


ms.set_seed(0)
train, _ = pipelines()
net = Net()
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(net, loss, nn.Adam(net.trainable_params(), learning_rate=0.01))
model.train(2, train, dataset_sink_mode=False)
