"""Beta-like density estimate: log of one minus the prediction."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class ShareNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(5, 16, activation="relu")
        self.share = nn.Dense(16, 1, weight_init="zeros", bias_init=Tensor([0.5], ms.float32))

    def construct(self, x):
        return self.share(self.hidden(x))


def nll(share, target):
    head = target * ops.log(share)
    tail = (1.0 - target) * ops.log(1.0 - share)
    return -(head + tail).mean()


def main():
    ms.set_seed(3)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(48, 5)).astype(np.float32)
    target = rng.uniform(0.75, 0.95, (48, 1)).astype(np.float32)
    net = ShareNet()
    opt = nn.SGD(net.trainable_params(), learning_rate=0.08)

    def forward(a, b):
        return nll(net(a), b)

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    for step in range(8):
        rows = slice(6 * step, 6 * step + 6)
        loss, grads = grad_fn(Tensor(x[rows]), Tensor(target[rows]))
        opt(grads)
        print(step, loss)


if __name__ == "__main__":
    main()
