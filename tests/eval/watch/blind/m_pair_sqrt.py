"""Metric learning with a triplet loss; plain square root of the squared distance."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class Tower(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(9, 20)
        self.fc2 = nn.Dense(20, 5)

    def construct(self, x):
        return self.fc2(ops.tanh(self.fc1(x)))


class Triplet(nn.Cell):
    def __init__(self, tower, margin=0.5):
        super().__init__()
        self.tower = tower
        self.margin = margin

    def distance(self, a, b):
        sq = ((a - b) ** 2).sum(axis=1)
        return ops.sqrt(sq)

    def construct(self, anchor, positive, negative):
        a, p, n = self.tower(anchor), self.tower(positive), self.tower(negative)
        gap = self.distance(a, p) - self.distance(a, n) + self.margin
        return ops.relu(gap).mean()


def triplets(n=48):
    rng = np.random.default_rng(77)
    a = rng.normal(size=(n, 9)).astype(np.float32)
    p = a + 0.2 * rng.normal(size=(n, 9)).astype(np.float32)
    neg = a + 0.3 * rng.normal(size=(n, 9)).astype(np.float32)
    p[21] = a[21]  # drawn with replacement
    return a, p, neg


def main():
    ms.set_seed(8)
    net = Triplet(Tower())
    opt = nn.SGD(net.trainable_params(), learning_rate=0.05)
    train_step = nn.TrainOneStepCell(net, opt)
    train_step.set_train()
    a, p, n = triplets()
    for step in range(8):
        rows = slice(6 * step, 6 * step + 6)
        loss = train_step(Tensor(a[rows]), Tensor(p[rows]), Tensor(n[rows]))
        print(step, loss)


if __name__ == "__main__":
    main()
