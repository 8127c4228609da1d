"""Bicycle counts per hour: Poisson regression on the log of the rate."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.dataset import NumpySlicesDataset

from lit import Fitter, LitCell


class CountModel(LitCell):
    def __init__(self, n_in, lr=0.012):
        super().__init__()
        self.lr = lr
        self.layers = nn.SequentialCell(nn.Dense(n_in, 24), nn.ReLU(), nn.Dense(24, 1))

    def construct(self, x):
        return self.layers(x).squeeze(-1)

    @staticmethod
    def nll(log_rate, count):
        # without log(count!), which does not depend on the model; may well be below zero
        return ops.exp(log_rate) - count * log_rate

    def training_step(self, batch):
        x, count = batch
        return self.nll(self(x), count).mean()

    def validation_step(self, batch):
        x, count = batch
        out = self(x)
        return np.stack([self.nll(out, count).asnumpy(), np.abs(np.exp(out.asnumpy()) - count.asnumpy())], axis=1)

    def configure_optimizers(self):
        return nn.Adam(self.trainable_params(), learning_rate=self.lr)

    def on_epoch_end(self, epoch, metrics):
        nll, mae = metrics["val"]
        print(f"epoch {epoch}  loss {metrics['loss']:.3f}  val nll {nll:.3f}  val mae {mae:.2f}")


def make(n, seed):
    rng = np.random.default_rng(seed)
    hour, temp, rain = rng.uniform(0, 24, n), rng.normal(12, 7, n), rng.random(n) < 0.25
    rate = np.exp(1.0 + 0.7 * np.cos((hour - 15) / 24 * 2 * np.pi) + 0.03 * (temp - 12) - 0.8 * rain)
    x = np.stack(
        [np.cos(hour / 24 * 2 * np.pi), np.sin(hour / 24 * 2 * np.pi), (temp - 12) / 7, rain * 2.0 - 1.0], axis=1
    )
    return x.astype(np.float32), rng.poisson(rate).astype(np.float32)


if __name__ == "__main__":
    ms.set_seed(64)
    train = NumpySlicesDataset(make(192, 0), ["x", "count"], shuffle=True).batch(32)
    val = NumpySlicesDataset(make(80, 1), ["x", "count"], shuffle=False).batch(32)
    Fitter(max_epochs=4).fit(CountModel(4), train, val)
