# run: tr.14
"""numpy's own numbers and no seed at all: every process goes on from the state that it was forked with."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn


class Noisy:
    def __init__(self, count):
        self.x = np.linspace(-1, 1, count, dtype=np.float32)[:, None]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        noise = np.random.normal(0, 0.1, self.x[index].shape).astype(np.float32)
        return self.x[index] + noise, self.x[index] ** 2


def main():
    data = ds.GeneratorDataset(Noisy(64), ["x", "y"], shuffle=True, num_parallel_workers=2).batch(16)
    net = nn.SequentialCell(nn.Dense(1, 16), nn.Tanh(), nn.Dense(16, 1))
    loss_fn = nn.MSELoss()
    optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
    step = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, optimizer.parameters)
    net.set_train()
    for x, y in data.create_tuple_iterator(num_epochs=1):
        _, gradients = step(x, y)
        optimizer(gradients)


if __name__ == "__main__":
    main()
