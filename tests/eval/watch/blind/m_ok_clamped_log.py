"""Binary cross-entropy by hand with clamped logarithms, saturated predictions included."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class Detector(nn.Cell):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(6, 20, activation="relu")
        self.out = nn.Dense(20, 1)

    def construct(self, x):
        return ops.sigmoid(60.0 * self.out(self.hidden(x))).squeeze(-1)


def bce(p, y):
    pos = y * ops.log(ops.clamp(p, min=1e-7))
    neg = (1.0 - y) * ops.log(ops.clamp(1.0 - p, min=1e-7))
    return -(pos + neg).mean()


def main():
    ms.set_seed(0)
    rng = np.random.default_rng(7)
    x = 3 * rng.normal(size=(64, 6)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.float32)
    net = Detector()
    opt = nn.SGD(net.trainable_params(), 1e-3)
    grad_fn = ms.value_and_grad(lambda a, b: bce(net(a), b), None, opt.parameters)
    for step in range(8):
        rows = slice(8 * step, 8 * step + 8)
        loss, grads = grad_fn(Tensor(x[rows]), Tensor(y[rows]))
        opt(grads)
        print(step, loss)


if __name__ == "__main__":
    main()
