"""Focal loss and entropy bonus with clamped logarithms."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
        self.gate = nn.Linear(8, 4, bias=False)

    def forward(self, x):
        return torch.sigmoid(40 * self.body(x)).squeeze(1), torch.relu(self.gate(x))


def focal(p, y, gamma=2.0):
    pos = -y * (1 - p) ** gamma * torch.log(p.clamp(min=1e-7))
    neg = -(1 - y) * p**gamma * torch.log((1 - p).clamp(min=1e-7))
    return (pos + neg).mean()


def entropy(w):
    p = w / w.sum(dim=1, keepdim=True).clamp(min=1e-6)
    return -(p * torch.log(torch.clamp(p, min=1e-8))).sum(dim=1).mean()


def main():
    torch.manual_seed(0)
    x = torch.randn(60, 8)
    x[17] = 0.0
    y = (x[:, 0] > 0).float()
    net = Detector()
    opt = torch.optim.SGD(net.parameters(), lr=0.02)
    for step, (xb, yb) in enumerate(DataLoader(TensorDataset(x, y), batch_size=6)):
        p, gates = net(xb)
        loss = focal(p, yb) - 0.01 * entropy(gates)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
