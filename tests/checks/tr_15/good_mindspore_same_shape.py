"""The output has the shape of the table and numbers of its own."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, nn, ops
from mindspore.common.initializer import initializer
from mindspore.dataset import NumpySlicesDataset

ms.set_seed(0)
tokens = np.random.default_rng(0).integers(0, 12, (64, 9)).astype(np.int32)
train = NumpySlicesDataset((tokens[:, :-1], tokens[:, 1:]), ["x", "y"], shuffle=True).batch(16)


class Speaker(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(12, 16)
        self.inner = nn.Dense(16, 16)
        self.back = Parameter(initializer("normal", self.words.embedding_table.shape), name="back")

    def construct(self, x):
        return ops.matmul(ops.tanh(self.inner(self.words(x))), self.back.T)


net = Speaker()
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)


def loss_of(x, y):
    return loss_fn(net(x).reshape(-1, 12), y.reshape(-1))


gradient = ms.value_and_grad(loss_of, None, optimizer.parameters)
for epoch in range(2):
    net.set_train(True)
    for x, y in train.create_tuple_iterator():
        loss, gradients = gradient(x, y)
        optimizer(gradients)
    print(epoch, loss)
