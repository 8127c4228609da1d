#!/usr/bin/env python
"""Seven-segment digits with gradient accumulation (micro-batches of 16, update every 2)."""

import argparse

import numpy as np
import mindspore as ms
from mindspore import Parameter, ParameterTuple, Tensor, nn, ops
from mindspore.dataset import NumpySlicesDataset

SEGMENTS = np.array(
    [
        [1, 1, 1, 1, 1, 1, 0],
        [0, 1, 1, 0, 0, 0, 0],
        [1, 1, 0, 1, 1, 0, 1],
        [1, 1, 1, 1, 0, 0, 1],
        [0, 1, 1, 0, 0, 1, 1],
        [1, 0, 1, 1, 0, 1, 1],
        [1, 0, 1, 1, 1, 1, 1],
        [1, 1, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1],
    ],
    np.float32,
)


def sample(n, seed):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 10
    # each segment seen twice, by two noisy sensors
    x = np.concatenate([SEGMENTS[y], SEGMENTS[y]], axis=1) * 2 - 1
    return (x + 0.3 * rng.normal(size=x.shape)).astype(np.float32), y.astype(np.int32)


class Accumulator:
    """Sums gradients in buffers next to the weights and lets the optimizer see them every `every` calls."""

    def __init__(self, optimizer, every):
        self.optimizer, self.every, self.pending = optimizer, every, 0
        self.buffers = ParameterTuple(
            [Parameter(ops.zeros_like(p), name="acc." + p.name, requires_grad=False) for p in optimizer.parameters]
        )

    def add(self, grads):
        for buf, g in zip(self.buffers, grads):
            ops.assign_add(buf, g)
        self.pending += 1
        if self.pending == self.every:
            self.flush()

    def flush(self):
        self.optimizer(tuple(b.value() for b in self.buffers))
        for buf in self.buffers:
            ops.assign(buf, ops.zeros_like(buf))
        self.pending = 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--micro", type=int, default=16)
    parser.add_argument("--every", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=0.02)
    opt_args = parser.parse_args()

    ms.set_seed(123)
    train_set = NumpySlicesDataset(sample(160, 0), ["x", "y"], shuffle=True).batch(opt_args.micro, drop_remainder=True)
    steps = train_set.get_dataset_size()
    assert steps % opt_args.every == 0, "an epoch should end on an update"
    test_x, test_y = sample(100, 1)

    net = nn.SequentialCell(nn.Dense(14, 40), nn.ReLU(), nn.Dense(40, 10))
    criterion = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Adam(net.trainable_params(), learning_rate=opt_args.lr)
    accumulate = Accumulator(optimizer, opt_args.every)

    def micro_loss(x, y):
        # a share of the mean over the whole update
        return criterion(net(x), y) / opt_args.every

    fn = ms.value_and_grad(micro_loss, None, optimizer.parameters)

    it = train_set.create_tuple_iterator(num_epochs=opt_args.epochs)
    for epoch in range(opt_args.epochs):
        net.set_train(True)
        total = 0.0
        for x, y in it:
            part, grads = fn(x, y)
            accumulate.add(grads)
            total += float(part.asnumpy()) * opt_args.every
        net.set_train(False)
        acc = (net(Tensor(test_x)).asnumpy().argmax(1) == test_y).mean()
        print(f"epoch {epoch}: loss {total / steps:.4f}, test accuracy {acc:.2f}")


if __name__ == "__main__":
    main()
