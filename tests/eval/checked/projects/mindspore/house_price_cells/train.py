"""House prices (made up): regression with WithLossCell / TrainOneStepCell.

usage: python train.py [--epochs N] [--lr LR]
"""

import argparse
import math

import numpy as np
import mindspore as ms
from mindspore import Tensor, nn
from mindspore import dataset as ds


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--lr", type=float, default=1.5e-2)
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--seed", type=int, default=2024)
    return p.parse_args()


def make_table(n, rng):
    """area in m2, rooms, age in years, distance to the centre in km -> price in thousands"""
    area = rng.uniform(30, 200, n)
    rooms = np.clip(np.round(area / 30 + rng.normal(0, 0.7, n)), 1, 8)
    age = rng.uniform(0, 100, n)
    dist = rng.exponential(6.0, n)
    price = 2.8 * area + 11 * rooms - 0.9 * age + 140 * np.exp(-dist / 5) + rng.normal(0, 12, n)
    return np.stack([area, rooms, age, dist], 1), price[:, None]


class Standardise:
    """Fitted on the training rows, applied to everything."""

    def __init__(self, table):
        self.mean, self.std = table.mean(0), table.std(0)

    def __call__(self, table):
        return ((table - self.mean) / self.std).astype(np.float32)

    def undo_scale(self, value):
        return value * self.std


def main():
    args = get_args()
    ms.set_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    x, y = make_table(320, rng)
    cut = 256
    fx, fy = Standardise(x[:cut]), Standardise(y[:cut])

    train = ds.NumpySlicesDataset({"x": fx(x[:cut]), "y": fy(y[:cut])}, shuffle=True)
    train = train.batch(args.batch, drop_remainder=True)
    steps = train.get_dataset_size()

    net = nn.SequentialCell(nn.Dense(4, args.hidden), nn.Tanh(), nn.Dense(args.hidden, 1))
    # one value per step for the whole run: the optimizer walks along the list on its own
    lr = nn.cosine_decay_lr(
        min_lr=args.lr / 50,
        max_lr=args.lr,
        total_step=steps * args.epochs,
        step_per_epoch=1,
        decay_epoch=steps * args.epochs,
    )
    opt = nn.Adam(net.trainable_params(), learning_rate=lr)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), opt)

    held_x, held_y = Tensor(fx(x[cut:])), fy(y[cut:])
    batches = train.create_dict_iterator(num_epochs=args.epochs)
    for epoch in range(1, args.epochs + 1):
        step.set_train(True)
        losses = [float(step(b["x"], b["y"]).asnumpy()) for b in batches]

        net.set_train(False)
        err = net(held_x).asnumpy() - held_y
        rmse = fy.undo_scale(math.sqrt(float((err**2).mean())))[0]
        print(f"[{epoch}/{args.epochs}] mse {np.mean(losses):.4f}   held-out rmse {rmse:.1f} k")


if __name__ == "__main__":
    main()
