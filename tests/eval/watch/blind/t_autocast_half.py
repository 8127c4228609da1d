"""Mixed precision regression on raw detector counts."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Stem(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.mix = nn.Linear(channels, width)
        self.act = nn.ReLU()

    def forward(self, counts):
        return self.act(self.mix(counts))


class CountNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = Stem(64, 32)
        self.norm = nn.LayerNorm(32)
        self.out = nn.Linear(32, 1)

    def forward(self, counts):
        return self.out(self.norm(self.stem(counts)))


def recordings():
    rng = np.random.default_rng(4)
    rate = np.repeat([300.0, 500.0, 400.0, 600.0, 30000.0, 500.0, 300.0, 400.0], 8)
    counts = rng.poisson(rate[:, None], (64, 64)).astype(np.float32)
    target = np.log1p(rate).astype(np.float32)[:, None]
    return TensorDataset(torch.from_numpy(counts), torch.from_numpy(target))


def main():
    torch.manual_seed(7)
    net = CountNet()
    for p in net.stem.mix.parameters():
        nn.init.uniform_(p, 0.0, 0.1)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step, (counts, target) in enumerate(DataLoader(recordings(), batch_size=8)):
        opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            pred = net(counts)
        loss = nn.functional.smooth_l1_loss(pred.float(), target)
        loss.backward()
        opt.step()
        print("step", step, "loss", loss.item())


if __name__ == "__main__":
    main()
