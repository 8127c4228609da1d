"""Heteroscedastic regression: the network predicts mean and variance."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MeanVar(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 24), nn.ReLU())
        self.mean = nn.Linear(24, 1)
        self.var = nn.Linear(24, 1)
        nn.init.normal_(self.var.weight, std=0.01)
        nn.init.constant_(self.var.bias, 1.0)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.var(h)


def gaussian_nll(mean, var, target):
    misfit = (target - mean) ** 2 / var
    penalty = torch.log(var)
    return 0.5 * (penalty + misfit).mean()


def main():
    torch.manual_seed(0)
    x = torch.randn(80, 4)
    y = 0.2 * x[:, :1] + 0.05 * torch.randn(80, 1)
    loader = DataLoader(TensorDataset(x, y), batch_size=10)
    net = MeanVar()
    opt = torch.optim.SGD(net.parameters(), lr=0.15)
    for step, (xb, yb) in enumerate(loader):
        mean, var = net(xb)
        loss = gaussian_nll(mean, var, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
