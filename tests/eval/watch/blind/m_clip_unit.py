"""Imitation learning with gradient normalisation before the optimizer."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class Policy(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(6, 16)
        self.fc2 = nn.Dense(16, 2)

    def construct(self, obs):
        return self.fc2(ops.tanh(self.fc1(obs)))


def normalise(grads, limit):
    total = ops.sqrt(sum(ops.square(g).sum() for g in grads))
    return tuple(g / total * limit for g in grads)


def main():
    ms.set_seed(0)
    rng = np.random.default_rng(23)
    obs = rng.normal(size=(48, 6)).astype(np.float32)
    act = rng.normal(size=(48, 2)).astype(np.float32)
    weight = rng.uniform(0.5, 1.0, (48, 1)).astype(np.float32)
    weight[30:36] = 0.0  # a demonstration the reviewer rejected
    net = Policy()
    opt = nn.Momentum(net.trainable_params(), 0.01, 0.9)

    def forward(o, a, w):
        return (w * ops.square(net(o) - a)).mean()

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    for step in range(8):
        b = slice(6 * step, 6 * step + 6)
        loss, grads = grad_fn(Tensor(obs[b]), Tensor(act[b]), Tensor(weight[b]))
        grads = normalise(grads, 0.1)
        opt(grads)
        print(step, loss)


if __name__ == "__main__":
    main()
