"""Recommender with pretrained item vectors."""

from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

HERE = Path(__file__).resolve().parent


class Recommender(nn.Cell):
    def __init__(self, users, items):
        super().__init__()
        self.user = nn.Embedding(users, items.shape[1])
        self.item = nn.Embedding(*items.shape, embedding_table=Tensor(items))
        self.fc = nn.Dense(items.shape[1], 1)

    def construct(self, u, i):
        taste = self.user(u)
        product = self.item(i)
        return self.fc(taste * product).squeeze(-1)


def interactions(n=60):
    rng = np.random.default_rng(12)
    u = rng.integers(0, 20, n).astype(np.int32)
    i = rng.integers(0, 60, n).astype(np.int32)
    i[i == 22] = 7
    i[39] = 22
    return u, i, rng.integers(0, 2, n).astype(np.float32)


def main():
    ms.set_seed(5)
    net = Recommender(20, np.load(HERE / "item_vectors.npy"))
    opt = nn.SGD(net.trainable_params(), learning_rate=0.05)

    def forward(u, i, y):
        logits = net(u, i)
        return ops.binary_cross_entropy_with_logits(logits, y, ops.ones_like(y), ops.ones_like(y))

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    u, i, y = interactions()
    for step in range(10):
        part = slice(6 * step, 6 * step + 6)
        loss, grads = grad_fn(Tensor(u[part]), Tensor(i[part]), Tensor(y[part]))
        opt(grads)
        print(step, loss)


if __name__ == "__main__":
    main()
