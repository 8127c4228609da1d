"""Claim counts (Anscombe transform) with a guarded square root on the predicted rate."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


def guarded_sqrt(x):
    return ops.where(x > 0, ops.sqrt(x), ops.zeros_like(x))


class RateNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(6, 18)
        self.rate = nn.Dense(18, 1)

    def construct(self, x, exposure):
        h = ops.tanh(self.hidden(x))
        return ops.exp(self.rate(h)).squeeze(-1) * exposure


def anscombe_loss(rate, count):
    return ops.square(guarded_sqrt(rate) - ops.sqrt(count)).mean()


def claims(n=56):
    rng = np.random.default_rng(15)
    x = rng.normal(size=(n, 6)).astype(np.float32)
    exposure = rng.uniform(0.2, 1.0, n).astype(np.float32)
    count = rng.poisson(1.0, n).astype(np.float32)
    exposure[37], count[37] = 0.0, 0.0  # policy cancelled before it began
    return x, exposure, count


def main():
    ms.set_seed(1)
    net = RateNet()
    opt = nn.SGD(net.trainable_params(), learning_rate=0.02)

    def forward(x, exposure, count):
        rate = net(x, exposure)
        return anscombe_loss(rate, count)

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    x, exposure, count = claims()
    for step in range(8):
        rows = slice(7 * step, 7 * step + 7)
        loss, grads = grad_fn(Tensor(x[rows]), Tensor(exposure[rows]), Tensor(count[rows]))
        opt(grads)
        print(step, loss)


if __name__ == "__main__":
    main()
