"""Signed root activation with a hand-written bprop."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class SignedRoot(nn.Cell):
    def construct(self, x):
        return ops.sign(x) * ops.sqrt(ops.abs(x))

    def bprop(self, x, out, dout):
        slope = dout / (2.0 * ops.abs(out))
        return (slope,)


class RootNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lin = nn.Dense(5, 12, has_bias=False)
        self.root = SignedRoot()
        self.out = nn.Dense(12, 1)

    def construct(self, x):
        h = self.lin(x)
        h = self.root(h)
        return self.out(h)


def main():
    ms.set_seed(11)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    rng = np.random.default_rng(11)
    x = rng.normal(size=(45, 5)).astype(np.float32)
    x[27] = 0.0
    y = rng.normal(size=(45, 1)).astype(np.float32)
    net = RootNet()
    mse = nn.MSELoss()
    opt = nn.SGD(net.trainable_params(), learning_rate=0.005)
    grad_fn = ms.value_and_grad(lambda a, b: mse(net(a), b), None, opt.parameters)
    for step in range(9):
        rows = slice(5 * step, 5 * step + 5)
        loss, grads = grad_fn(Tensor(x[rows]), Tensor(y[rows]))
        opt(grads)
        print(step, loss)


if __name__ == "__main__":
    main()
