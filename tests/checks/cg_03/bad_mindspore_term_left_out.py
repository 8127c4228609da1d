"""Positions are built, named to keep them from decay, and never added."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.common.initializer import Normal, initializer


class Reader(nn.Cell):
    def __init__(self, words=20, length=5, width=8):
        super().__init__()
        self.table = nn.Embedding(words, width)
        self.places = ms.Parameter(initializer(Normal(0.1), (length, width)), name="places")  # expect: cg.03
        self.last = nn.Dense(width, 2)

    def construct(self, inputs):
        return self.last(self.table(inputs).mean(axis=1))


ms.set_seed(3)
draw = np.random.default_rng(3)
x = draw.integers(0, 20, (64, 5)).astype(np.int32)
y = (x[:, 0] > 10).astype(np.int32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = Reader()
rest = [one for one in net.trainable_params() if one.name == "places" or one.ndim < 2]
decayed = [one for one in net.trainable_params() if one.name != "places" and one.ndim > 1]
groups = [{"params": decayed, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}]
optimizer = nn.AdamWeightDecay(groups, learning_rate=0.01)
loss_fn = nn.CrossEntropyLoss()


def forward(inputs, labels):
    return loss_fn(net(inputs), labels)


step = ms.value_and_grad(forward, None, optimizer.parameters)
for _ in range(2):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
