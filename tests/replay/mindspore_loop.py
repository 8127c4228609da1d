"""Two networks that take turns on each batch, words among the data, and a schedule of schedules."""

import mindspore as ms
import numpy as np
from mindspore import dataset, nn, ops
from mindspore.experimental import optim


class Rows:
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return np.random.default_rng(index).normal(size=4).astype(np.float32), f"row {index}"


class Network(nn.Cell):
    def __init__(self, into):
        super().__init__()
        self.first, self.last = nn.Dense(4, 8), nn.Dense(8, into)

    def construct(self, x):
        return self.last(ops.tanh(self.first(x)))


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(1)
    made, judged = Network(4), Network(1)
    optimizers = [optim.Adam(one.trainable_params(), lr=0.01) for one in (made, judged)]
    parts = [
        optim.lr_scheduler.ConstantLR(optimizers[0], 0.5, total_iters=2),
        optim.lr_scheduler.ExponentialLR(optimizers[0], 0.9),
    ]
    schedule = optim.lr_scheduler.SequentialLR(optimizers[0], parts, milestones=[3])

    def judge(x, noise):
        return ops.relu(1 - judged(x)).mean() + ops.relu(1 + judged(ops.stop_gradient(made(noise)))).mean()

    def deceive(noise):
        return -judged(made(noise)).mean()

    judging = ms.value_and_grad(judge, None, optimizers[1].parameters)
    deceiving = ms.value_and_grad(deceive, None, optimizers[0].parameters)
    rows = dataset.GeneratorDataset(Rows(), ["x", "name"], shuffle=True).batch(2)
    for _ in range(2):
        for x, name in rows.create_tuple_iterator(num_epochs=1):
            noise = ops.standard_normal((2, 4))
            first, gradients = judging(x, noise)
            optimizers[1](gradients)
            second, gradients = deceiving(noise)
            optimizers[0](gradients)
            schedule.step()
            rate = float(schedule.get_last_lr()[0].asnumpy()).hex()
            print(float(first).hex(), float(second).hex(), rate, name.tolist(), flush=True)


if __name__ == "__main__":
    main()
