"""Graph attention with a distance table in which 'no path' is infinity."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class DistanceBias(nn.Cell):
    def __init__(self):
        super().__init__()
        self.slope = ms.Parameter(Tensor(-0.1, ms.float32), name="slope")

    def construct(self, dist, reachable):
        hops = dist * reachable
        return self.slope * hops


class GraphLayer(nn.Cell):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.value = nn.Dense(n_in, n_out)
        self.bias = DistanceBias()

    def construct(self, x, dist, reachable):
        weight = ops.exp(self.bias(dist, reachable)) * reachable
        weight = weight / weight.sum(axis=-1, keepdims=True)
        return ops.matmul(weight, self.value(x))


class GraphNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layer = GraphLayer(4, 12)
        self.head = nn.Dense(12, 1)

    def construct(self, x, dist, reachable):
        return self.head(ops.tanh(self.layer(x, dist, reachable)).mean(axis=0))


def graphs(steps=8, nodes=6):
    rng = np.random.default_rng(3)
    for i in range(steps):
        x = rng.normal(size=(nodes, 4)).astype(np.float32)
        idx = np.arange(nodes)
        dist = np.abs(idx[:, None] - idx[None, :]).astype(np.float32)
        if i in (3, 6):  # the edge in the middle is missing
            dist[:3, 3:] = dist[3:, :3] = np.inf
        yield Tensor(x), Tensor(dist), Tensor(np.isfinite(dist).astype(np.float32)), Tensor([x.mean()], ms.float32)


def main():
    ms.set_seed(0)
    net = GraphNet()
    mse = nn.MSELoss()
    opt = nn.Adam(net.trainable_params(), 1e-2)

    def forward(x, dist, reachable, y):
        return mse(net(x, dist, reachable), y)

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    for step, (x, dist, reachable, y) in enumerate(graphs()):
        loss, grads = grad_fn(x, dist, reachable, y)
        opt(grads)
        print(step, loss)


if __name__ == "__main__":
    main()
