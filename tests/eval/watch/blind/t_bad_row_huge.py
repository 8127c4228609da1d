"""Sensor fusion on second-order features; missing readings were coded as 1e38."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Quadratic(nn.Module):
    """Readings and their squares, each with a learned gain."""

    def __init__(self, dim):
        super().__init__()
        self.gain = nn.Parameter(torch.full((2 * dim,), 0.5))

    def forward(self, x):
        squared = x.pow(2)
        return torch.cat([x, squared], dim=-1) * self.gain


class Fusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = Quadratic(9)
        self.mlp = nn.Sequential(nn.Linear(18, 20), nn.SiLU(), nn.Linear(20, 2))

    def forward(self, x):
        return self.mlp(self.features(x))


def readings():
    rng = np.random.default_rng(33)
    x = rng.normal(size=(63, 9)).astype(np.float32)
    y = np.stack([x[:, 0] * x[:, 1], x[:, 2]], axis=1)
    x[38, 6] = 1e38
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y))


def main():
    torch.manual_seed(0)
    net = Fusion()
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    for step, (x, y) in enumerate(DataLoader(readings(), batch_size=7)):
        loss = nn.functional.smooth_l1_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
