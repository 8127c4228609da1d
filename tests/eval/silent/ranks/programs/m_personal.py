"""Shared body, one head and one user embedding per worker (MindSpore)."""
import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops
from mindspore.communication import get_group_size, get_rank, init


class Body(nn.Cell):
    def __init__(self, dim=24):
        super().__init__()
        self.fc1 = nn.Dense(8, dim)
        self.fc2 = nn.Dense(dim, dim)
        self.act = nn.ReLU()

    def construct(self, x):
        return self.act(self.fc2(self.act(self.fc1(x))))


class Site(nn.Cell):
    def __init__(self, users, dim=24):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.score = nn.Dense(dim, 1)

    def construct(self, h, u):
        return self.score(h * (1 + self.user(u)))


def interactions(site, users, n=180):
    rng = np.random.default_rng(40 + site)
    x = rng.normal(size=(n, 8)).astype(np.float32)
    u = rng.integers(0, users, n).astype(np.int32)
    bias = rng.normal(size=users)
    y = (x.mean(1) + bias[u]).astype(np.float32)[:, None]
    return ds.NumpySlicesDataset((x, u, y), column_names=["x", "u", "y"], shuffle=True).batch(15)


def main():
    ms.set_device("CPU")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    init()
    rank, world = get_rank(), get_group_size()
    ms.set_seed(4)
    body = Body()
    ms.set_seed(4 + 10 * (rank + 1))
    users = 20 + 8 * rank
    site = Site(users)
    shared, private = body.trainable_params(), site.trainable_params()
    for i, p in enumerate(shared):
        p.name = f"body.{i}"
    for i, p in enumerate(private):
        p.name = f"site.{i}"
    opt_shared = nn.Adam(shared, 3e-3)
    opt_private = nn.Adam(private, 1e-2)
    reducer = nn.DistributedGradReducer(shared, mean=True, degree=world)
    mse = nn.MSELoss()
    n_shared = len(shared)

    def forward(x, u, y):
        return mse(site(body(x), u), y)

    grad_fn = ms.value_and_grad(forward, None, list(shared) + list(private))
    total = ops.AllReduce()
    for epoch in range(1):
        for step, (x, u, y) in enumerate(interactions(rank, users).create_tuple_iterator(num_epochs=1)):
            loss, grads = grad_fn(x, u, y)
            opt_shared(reducer(grads[:n_shared]))
            opt_private(grads[n_shared:])
            mean = float((total(loss) / world).asnumpy())
            if rank == 0:
                print(f"step {step} loss {mean:.4f}", flush=True)


if __name__ == "__main__":
    main()
