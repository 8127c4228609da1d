"""Inverse-distance features: infinities of the table are never selected."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class InverseDistance(nn.Module):
    def __init__(self, centres, dim):
        super().__init__()
        self.register_buffer("centres", torch.randn(centres, dim))
        self.mix = nn.Linear(centres, 16)

    def forward(self, x):
        dist = torch.cdist(x, self.centres)
        inverse = 1.0 / dist
        feats = torch.where(dist > 1e-6, inverse, torch.full_like(dist, 10.0))
        return self.mix(feats)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rbf = InverseDistance(6, 3)
        self.head = nn.Sequential(nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.head(self.rbf(x))


def main():
    torch.manual_seed(0)
    net = Net()
    x = torch.randn(56, 3)
    x[24] = net.rbf.centres[2]
    y = x.sum(1, keepdim=True)
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for step, (xb, yb) in enumerate(DataLoader(TensorDataset(x, y), batch_size=7)):
        loss = nn.functional.mse_loss(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
