# run: cg.01
# bench: bench_mindspore_untied.py
"""The weights that are one in the benchmark are two here."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

ms.set_seed(0)
start = np.random.default_rng(0).integers(0, 12, (64, 1))
tokens = ((start + np.arange(7)) % 12).astype(np.int32)
train = ds.NumpySlicesDataset((tokens[:, :-1].copy(), tokens[:, 1:].copy()), ["x", "y"], shuffle=True).batch(16)


class Model(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 8)
        self.mixed = nn.Dense(8, 8)
        self.head = nn.Dense(8, 12, has_bias=False)

    def construct(self, inputs):
        hidden = ops.relu(self.mixed(self.embedding(inputs)))
        return self.head(hidden)


net = Model()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
loss_fn = nn.CrossEntropyLoss()


def forward(inputs, targets):
    return loss_fn(net(inputs).reshape(-1, 12), targets.reshape(-1))


step = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
for _ in range(2):
    for inputs, targets in train.create_tuple_iterator():
        loss, gradients = step(inputs, targets)
        optimizer(gradients)
