"""Forecasting: every series is standardised by itself inside the network."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class SeriesNorm(nn.Module):
    def __init__(self, length):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(length))
        self.shift = nn.Parameter(torch.zeros(length))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        std = x.std(dim=-1, keepdim=True)
        z = (x - mean) / std
        return z * self.gain + self.shift


class Forecaster(nn.Module):
    def __init__(self, length=24, ahead=3):
        super().__init__()
        self.norm = SeriesNorm(length)
        self.encoder = nn.Sequential(nn.Linear(length, 32), nn.GELU(), nn.Linear(32, 32), nn.GELU())
        self.head = nn.Linear(32, ahead)

    def forward(self, x):
        return self.head(self.encoder(self.norm(x)))


def load():
    g = torch.Generator().manual_seed(5)
    t = torch.arange(27) / 4.0
    phase = torch.rand(40, 1, generator=g) * 6
    series = torch.sin(t + phase) + 0.1 * torch.randn(40, 27, generator=g)
    series[13] = 2.0  # a meter that reported the same value all day
    return TensorDataset(series[:, :24], series[:, 24:])


def train(model, loader, optimizer):
    for step, (past, future) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(past), future)
        loss.backward()
        optimizer.step()
        print(f"{step:3d} {loss.item():.5f}")


def main():
    torch.manual_seed(2)
    model = Forecaster()
    train(model, DataLoader(load(), batch_size=5), torch.optim.AdamW(model.parameters(), lr=1e-3))


if __name__ == "__main__":
    main()
