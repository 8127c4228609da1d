"""Point features scaled by their length."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class LengthGate(nn.Cell):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.lin = nn.Dense(n_in, n_out, has_bias=False)
        self.gate = nn.Dense(1, n_out)

    def construct(self, x):
        h = self.lin(x)
        length = ops.norm(h, dim=-1, keepdim=True)
        return ops.sigmoid(self.gate(length)) * h


class PointNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.local = LengthGate(3, 10)
        self.head = nn.Dense(10, 2)

    def construct(self, points):
        return self.head(self.local(points).max(axis=1))


def scans(steps=9):
    rng = np.random.default_rng(5)
    for i in range(steps):
        points = rng.normal(size=(4, 6, 3)).astype(np.float32)
        if i == 6:
            points[1, 4:] = 0.0  # padding of a short scan
        yield Tensor(points), Tensor(rng.integers(0, 2, 4).astype(np.int32))


def main():
    ms.set_seed(4)
    net = PointNet()
    loss_fn = nn.CrossEntropyLoss()
    opt = nn.Adam(net.trainable_params(), 2e-3)
    grad_fn = ms.value_and_grad(lambda p, y: loss_fn(net(p), y), None, opt.parameters)
    for step, (points, label) in enumerate(scans()):
        loss, grads = grad_fn(points, label)
        opt(grads)
        print(step, loss.asnumpy())


if __name__ == "__main__":
    main()
