"""Traffic speed forecasting with a causal TCN: predict the next step from the past 24."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


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
    """chronological: the last part is the test period"""
    cut = int(len(x) * train_part)
    return (x[:cut], y[:cut]), (x[cut:], y[cut:])


class CausalConv(nn.Module):
    def __init__(self, cin, cout, k, dilation):
        super().__init__()
        self.left = (k - 1) * dilation
        self.conv = nn.Conv1d(cin, cout, k, dilation=dilation)

    def forward(self, x):
        return self.conv(F.pad(x, (self.left, 0)))


class TCN(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.c1 = CausalConv(1, width, 3, 1)
        self.c2 = CausalConv(width, width, 3, 2)
        self.c3 = CausalConv(width, width, 3, 4)
        self.out = nn.Conv1d(width, 1, 1)

    def forward(self, x):
        h = F.relu(self.c1(x))
        h = h + F.relu(self.c2(h))
        h = h + F.relu(self.c3(h))
        return self.out(h)


class Runner:
    def __init__(self, batch_size=32, epochs=3, lr=0.01):
        self.batch_size, self.epochs = batch_size, epochs
        raw = series()
        self.mean, self.std = raw[:540].mean(), raw[:540].std()
        x, y = windows((raw - self.mean) / self.std)
        self.train, self.test = split(x, y)
        torch.manual_seed(12)
        self.net = TCN()
        self.opt = torch.optim.SGD(self.net.parameters(), lr=lr, momentum=0.9)
        self.rng = np.random.RandomState(6)

    def fit(self):
        x, y = self.train
        for epoch in range(self.epochs):
            order = self.rng.permutation(len(x))
            losses = []
            for i in range(0, len(x), self.batch_size):
                j = order[i:i + self.batch_size]
                loss = F.l1_loss(self.net(torch.from_numpy(x[j])), torch.from_numpy(y[j]))
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                losses.append(loss.item())
            print(f"epoch {epoch} L1 {np.mean(losses):.4f} test MAE {self.test_mae():.4f}")

    def test_mae(self):
        x, y = self.test
        with torch.no_grad():
            p = self.net(torch.from_numpy(x)).numpy()
        return float(np.abs(p[:, 0, -1] - y[:, 0, -1]).mean() * self.std)


if __name__ == "__main__":
    Runner().fit()
