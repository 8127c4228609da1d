"""Inverse-distance interpolation: the infinite entries are replaced before use."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class InverseDistance(nn.Cell):
    def __init__(self, centres):
        super().__init__()
        self.centres = Tensor(centres)
        self.mix = nn.Dense(len(centres), 12)

    def construct(self, x):
        gap = x.expand_dims(1) - self.centres
        sq = ops.square(gap).sum(axis=-1)
        inverse = 1.0 / sq
        feats = ops.where(sq > 1e-6, ops.minimum(inverse, Tensor(10.0)), ops.full_like(sq, 10.0))
        return self.mix(feats)


class Net(nn.Cell):
    def __init__(self, centres):
        super().__init__()
        self.rbf = InverseDistance(centres)
        self.head = nn.SequentialCell(nn.ReLU(), nn.Dense(12, 1))

    def construct(self, x):
        return self.head(self.rbf(x))


def main():
    ms.set_seed(0)
    rng = np.random.default_rng(2)
    centres = rng.normal(size=(5, 3)).astype(np.float32)
    x = rng.normal(size=(48, 3)).astype(np.float32)
    x[20] = centres[1]
    y = x.sum(1, keepdims=True)
    net = Net(centres)
    mse = nn.MSELoss()
    opt = nn.Adam(net.trainable_params(), 1e-2)
    grad_fn = ms.value_and_grad(lambda a, b: mse(net(a), b), None, opt.parameters)
    for step in range(8):
        rows = slice(6 * step, 6 * step + 6)
        loss, grads = grad_fn(Tensor(x[rows]), Tensor(y[rows]))
        opt(grads)
        print(step, loss)


if __name__ == "__main__":
    main()
