"""Energy feature on sensor rows; one reading is the file format's fill value."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops


class EnergyStem(nn.Cell):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.proj = nn.Dense(n_in + 1, n_out)

    def construct(self, x):
        energy = ops.square(x).sum(axis=1, keepdims=True)
        return self.proj(ops.concat((x, energy), axis=1))


class SensorNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = EnergyStem(8, 20)
        self.head = nn.Dense(20, 3)

    def construct(self, x):
        return self.head(ops.relu(self.stem(x)))


def rows(n=50):
    rng = np.random.default_rng(44)
    for i in range(n):
        x = rng.normal(size=8).astype(np.float32)
        if i == 23:
            x[2] = 9.96921e36
        yield x, np.int32(rng.integers(0, 3))


def main():
    ms.set_seed(0)
    net = SensorNet()
    loss_fn = nn.CrossEntropyLoss()
    opt = nn.SGD(net.trainable_params(), 0.01)
    grad_fn = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, opt.parameters)
    data = ds.GeneratorDataset(list(rows()), ["x", "y"], shuffle=False).batch(5)
    for step, batch in enumerate(data.create_dict_iterator()):
        loss, grads = grad_fn(batch["x"], batch["y"])
        opt(grads)
        print(step, loss)


if __name__ == "__main__":
    main()
