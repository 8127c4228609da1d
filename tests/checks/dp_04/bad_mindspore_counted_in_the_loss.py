# run: dp.04
"""The next word is learned, also where there is none."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn


class Writer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30, 16)
        self.out = nn.Dense(16, 30)

    def construct(self, words):
        return self.out(self.words(words))


ms.set_seed(0)
draw = np.random.default_rng(0)
words = draw.integers(1, 30, (32, 9)).astype(np.int32)
lengths = draw.integers(4, 10, 32)
words[np.arange(9) >= lengths[:, None]] = 0
train = ds.NumpySlicesDataset((words[:, :-1], words[:, 1:]), ["x", "y"], shuffle=True).batch(16)
net = Writer()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
loss_fn = nn.CrossEntropyLoss()  # expect: dp.04
step = ms.value_and_grad(
    lambda inputs, labels: loss_fn(net(inputs).reshape(-1, 30), labels.reshape(-1)), None, optimizer.parameters
)
net.set_train()
for _ in range(1):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
