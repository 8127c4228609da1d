"""A cell ends in a softmax over the samples, and its logarithm goes into the loss."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops


class Classifier(nn.Cell):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(6, 16), nn.Tanh())
        self.out = nn.Dense(16, classes)
        self.scores = nn.LogSoftmax(axis=0)  # expect: tr.11

    def construct(self, inputs):
        return self.scores(self.out(self.body(inputs)))


def batches(seed):
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((64, 6)).astype(np.float32)
    return ds.NumpySlicesDataset((x, x[:, :3].argmax(1).astype(np.int32)), ["x", "y"], shuffle=True).batch(16)


def train(epochs=2):
    ms.set_seed(1)
    net = Classifier(3)
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)

    def forward(inputs, labels):
        return ops.nll_loss(net(inputs), labels)

    step = ms.value_and_grad(forward, None, optimizer.parameters)
    net.set_train()
    for _ in range(epochs):
        for inputs, labels in batches(1).create_tuple_iterator():
            loss, gradients = step(inputs, labels)
            optimizer(gradients)
        print(loss)


if __name__ == "__main__":
    train()
