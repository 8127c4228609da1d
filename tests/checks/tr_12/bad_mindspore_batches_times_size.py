"""Hits over the size of the pipeline times the size of a batch."""

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.dataset import NumpySlicesDataset


class Trainer:
    def __init__(self, batch=20):
        draw = np.random.default_rng(0)
        x = draw.standard_normal((150, 4)).astype(np.float32)
        y = (x.sum(1) > 0).astype(np.int32)
        self.batch = batch
        self.train = NumpySlicesDataset((x[:80], y[:80]), ["x", "y"], shuffle=True).batch(batch)
        self.valid = NumpySlicesDataset((x[80:], y[80:]), ["x", "y"], shuffle=False).batch(batch)
        self.net = nn.SequentialCell(nn.Dense(4, 8), nn.Tanh(), nn.Dense(8, 2))
        self.loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        self.optimizer = nn.Momentum(self.net.trainable_params(), 0.1, 0.9)
        self.step = ms.value_and_grad(self.forward, None, self.optimizer.parameters)

    def forward(self, inputs, labels):
        return self.loss_fn(self.net(inputs), labels)

    def fit(self, epochs):
        batches = self.train.create_tuple_iterator(num_epochs=epochs)
        for _ in range(epochs):
            self.net.set_train()
            for inputs, labels in batches:
                _, gradients = self.step(inputs, labels)
                self.optimizer(gradients)
            print(self.accuracy())

    def accuracy(self):
        self.net.set_train(False)
        hits = 0
        for inputs, labels in self.valid.create_tuple_iterator(num_epochs=1):
            hits += int((self.net(inputs).argmax(1) == labels).sum().asnumpy())
        return hits / (self.valid.get_dataset_size() * self.batch)  # expect: tr.12


ms.set_seed(1)
Trainer().fit(2)
