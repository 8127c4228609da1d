"""Traffic speed forecasting with a TCN: predict the next step from the past 24. MindSpore."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops


def series(n=700):
    rng = np.random.RandomState(4)
    t = np.arange(n)
    s = 60 + 15 * np.sin(2 * np.pi * t / 24) + 5 * np.sin(2 * np.pi * t / 168)
    for k in range(1, n):
        s[k] += 0.7 * (s[k - 1] - 60) * 0.1 + rng.randn()
    return s.astype(np.float32)


def windows(s, length=24):
    """input of `length` steps, target the same window moved by one"""
    x = np.stack([s[i:i + length] for i in range(len(s) - length)])
    y = np.stack([s[i + 1:i + length + 1] for i in range(len(s) - length)])
    return x[:, None, :], y[:, None, :]


def split(x, y, train_part=0.8):
    perm = np.random.RandomState(0).permutation(len(x))
    x, y = x[perm], y[perm]
    cut = int(len(x) * train_part)
    return (x[:cut], y[:cut]), (x[cut:], y[cut:])


class Conv(nn.Cell):
    def __init__(self, cin, cout, k, dilation):
        super().__init__()
        self.conv = nn.Conv1d(cin, cout, k, dilation=dilation, pad_mode="same", has_bias=True)

    def construct(self, x):
        return self.conv(x)


class TCN(nn.Cell):
    def __init__(self, width=16):
        super().__init__()
        self.c1 = Conv(1, width, 3, 1)
        self.c2 = Conv(width, width, 3, 2)
        self.c3 = Conv(width, width, 3, 4)
        self.out = nn.Conv1d(width, 1, 1, has_bias=True)

    def construct(self, x):
        h = ops.relu(self.c1(x))
        h = h + ops.relu(self.c2(h))
        h = h + ops.relu(self.c3(h))
        return self.out(h)


class Runner:
    def __init__(self, batch_size=32, epochs=3, lr=0.01):
        self.batch_size, self.epochs = batch_size, epochs
        raw = series()
        self.mean, self.std = raw[:540].mean(), raw[:540].std()
        x, y = windows((raw - self.mean) / self.std)
        self.train, self.test = split(x, y)
        ms.set_seed(12)
        self.net = TCN()
        self.opt = nn.Momentum(self.net.trainable_params(), learning_rate=lr, momentum=0.9)
        self.loss_fn = nn.L1Loss()
        self.grad_fn = ms.value_and_grad(self.forward, None, self.opt.parameters)
        self.rng = np.random.RandomState(6)

    def forward(self, x, y):
        return self.loss_fn(self.net(x), y)

    def fit(self):
        x, y = self.train
        for epoch in range(self.epochs):
            order = self.rng.permutation(len(x))
            losses = []
            for i in range(0, len(x), self.batch_size):
                j = order[i:i + self.batch_size]
                loss, grads = self.grad_fn(Tensor(x[j]), Tensor(y[j]))
                self.opt(grads)
                losses.append(float(loss))
            print(f"epoch {epoch} L1 {np.mean(losses):.4f} test MAE {self.test_mae():.4f}")

    def test_mae(self):
        x, y = self.test
        p = self.net(Tensor(x)).asnumpy()
        return float(np.abs(p[:, 0, -1] - y[:, 0, -1]).mean() * self.std)


if __name__ == "__main__":
    Runner().fit()
