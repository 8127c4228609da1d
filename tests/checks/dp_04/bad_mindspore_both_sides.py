# run: dp.04
"""Some sequences were filled up on the left, others on the right."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn


class Reader(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30, 16)
        self.out = nn.Dense(16, 2)

    def construct(self, words):
        there = (words != 0).astype(ms.float32).expand_dims(-1)
        return self.out((self.words(words) * there).sum(1) / there.sum(1))


ms.set_seed(0)
draw = np.random.default_rng(0)
words = draw.integers(1, 30, (32, 9)).astype(np.int32)
lengths = draw.integers(4, 10, 32)
y = (words[:, 0] > 15).astype(np.int32)
words[np.arange(9) >= lengths[:, None]] = 0
words[::3] = words[::3, ::-1]
train = ds.NumpySlicesDataset((words, y), ["x", "y"], shuffle=True).batch(16)
net = Reader()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
for _ in range(1):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
