"""Sequence regression on two workers; a faulty accelerator is simulated on request."""
import argparse

import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init


class Net(nn.Cell):
    def __init__(self, dim=40):
        super().__init__()
        self.inp = nn.Dense(12, dim)
        self.hid = nn.Dense(dim, dim)
        self.out = nn.Dense(dim, 1)
        self.act = nn.Tanh()

    def construct(self, x):
        h = self.act(self.inp(x))
        return self.out(h + self.act(self.hid(h)))


class FaultyMemory:
    def __init__(self, rank, start, fraction, seed=0):
        self.rank, self.start, self.fraction = rank, start, fraction
        self.rng = np.random.default_rng(seed)

    def touch(self, step, grads):
        if get_rank() != self.rank or step < self.start:
            return grads
        out = []
        for g in grads:
            a = g.asnumpy().copy()
            k = max(1, int(a.size * self.fraction)) if a.size >= 100 else 0
            a.reshape(-1)[self.rng.choice(a.size, k, replace=False)] = 0
            out.append(Tensor(a))
        return tuple(out)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--fault-step", type=int, default=6)
    ap.add_argument("--fault-rank", type=int, default=1)
    args = ap.parse_args()
    ms.set_device("CPU")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    init()
    rank, world = get_rank(), get_group_size()
    ms.set_seed(33)
    net = Net()
    rng = np.random.default_rng(9)
    x = rng.normal(size=(288, 12)).astype(np.float32)
    y = np.sin(x.sum(1, keepdims=True)).astype(np.float32)
    data = ds.NumpySlicesDataset((x, y), column_names=["x", "y"], num_shards=world, shard_id=rank, shuffle=False)
    data = data.batch(12)
    opt = nn.SGD(net.trainable_params(), learning_rate=0.05)
    mse = nn.MSELoss()
    grad_fn = ms.value_and_grad(lambda a, b: mse(net(a), b), None, opt.parameters)
    reduce = ops.AllReduce()
    fault = FaultyMemory(args.fault_rank, args.fault_step, 0.01)
    for step, (a, b) in enumerate(data.create_tuple_iterator(num_epochs=1)):
        loss, grads = grad_fn(a, b)
        grads = tuple(reduce(g) / world for g in grads)
        grads = fault.touch(step, grads)
        opt(grads)
        if rank == 0:
            print(f"step {step} loss {float(loss.asnumpy()):.5f}", flush=True)


if __name__ == "__main__":
    main()
