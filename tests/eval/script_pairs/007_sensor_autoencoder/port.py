"""Denoising autoencoder for machine-sensor windows; anomaly score by reconstruction error (MindSpore)."""
import numpy as np
import mindspore as ms
from mindspore import nn, Tensor


class WindowData:
    def __init__(self, n_windows, seed, anomaly=False):
        rng = np.random.RandomState(seed)
        t = np.arange(32)
        phase = rng.uniform(0, 6.28, (n_windows, 1, 1))
        freq = rng.uniform(0.2, 0.4, (n_windows, 1, 1))
        amp = np.array([1.0, 0.5, 2.0]).reshape(1, 3, 1)
        self.x = (amp * np.sin(freq * t + phase) + 0.05 * rng.randn(n_windows, 3, 32)).astype(np.float32)
        if anomaly:
            self.x[:, 1, 10:20] += 1.5

    def flat(self):
        return self.x.reshape(len(self.x), -1)


class AutoEncoder(nn.Cell):
    def __init__(self, dim=96, code=8):
        super().__init__()
        self.encoder = nn.SequentialCell(nn.Dense(dim, 48, activation="relu"), nn.Dense(48, code))
        self.decoder = nn.SequentialCell(nn.Dense(code, 48, activation="relu"), nn.Dense(48, dim))

    def construct(self, x):
        return self.decoder(self.encoder(x))


class Trainer:
    def __init__(self, model, lr=1e-3, noise=0.1, batch_size=20):
        self.model = model
        self.noise = noise
        self.batch_size = batch_size
        self.optimizer = nn.Momentum(model.trainable_params(), lr, 0.9)
        self.mse = nn.MSELoss()
        self.grad_fn = ms.value_and_grad(self.forward, None, self.optimizer.parameters)
        self.rng = np.random.RandomState(123)

    def forward(self, noisy, target):
        return self.mse(self.model(noisy), target)

    def run_epoch(self, data):
        self.model.set_train()
        order = self.rng.permutation(len(data))
        history = []
        for k in range(0, len(order), self.batch_size):
            clean = data[order[k:k + self.batch_size]]
            noisy = clean + self.noise * self.rng.randn(*clean.shape).astype(np.float32)
            loss, grads = self.grad_fn(Tensor(noisy), Tensor(clean))
            self.optimizer(grads)
            history.append(float(loss))
        return float(np.mean(history))

    def score(self, data):
        self.model.set_train(False)
        x = Tensor(data)
        return ((self.model(x) - x) ** 2).mean(axis=1).asnumpy()


def auc(neg, pos):
    return float((pos[:, None] > neg[None, :]).mean())


if __name__ == "__main__":
    ms.set_seed(7)
    train = WindowData(300, 0).flat()
    good, bad = WindowData(50, 1).flat(), WindowData(50, 2, anomaly=True).flat()
    trainer = Trainer(AutoEncoder())
    for epoch in range(4):
        value = trainer.run_epoch(train)
        print("epoch", epoch, "loss", round(value, 4), "auc", round(auc(trainer.score(good), trainer.score(bad)), 4))
