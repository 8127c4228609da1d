"""Maximum over time kept in a running tensor that starts at -inf."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class RunningMax(nn.Cell):
    def construct(self, x):
        best = ops.full((x.shape[0], x.shape[2]), float("-inf"), dtype=ms.float32)
        for t in range(x.shape[1]):
            best = ops.maximum(best, x[:, t])
        return best


class ClipNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.frame = nn.Dense(5, 14)
        self.pool = RunningMax()
        self.head = nn.Dense(14, 3)

    def construct(self, x):
        return self.head(self.pool(ops.tanh(self.frame(x))))


def main():
    ms.set_seed(0)
    rng = np.random.default_rng(1)
    net = ClipNet()
    loss_fn = nn.CrossEntropyLoss()
    opt = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    grad_fn = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, opt.parameters)
    for step in range(8):
        x = Tensor(rng.normal(size=(6, 7, 5)).astype(np.float32))
        y = Tensor(rng.integers(0, 3, 6).astype(np.int32))
        loss, grads = grad_fn(x, y)
        opt(grads)
        print(step, loss)


if __name__ == "__main__":
    main()
