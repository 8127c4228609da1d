"""Complex-valued layer kept as two real planes; the magnitude feeds the classifier."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ComplexLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.re = nn.Linear(n_in, n_out, bias=False)
        self.im = nn.Linear(n_in, n_out, bias=False)

    def forward(self, a, b):
        return self.re(a) - self.im(b), self.re(b) + self.im(a)


class Magnitude(nn.Module):
    def forward(self, a, b):
        return torch.hypot(a, b)


class RadarNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = ComplexLinear(12, 20)
        self.mag = Magnitude()
        self.fc = nn.Linear(20, 3)

    def forward(self, a, b):
        return self.fc(self.mag(*self.lin(a, b)))


def sweep():
    g = torch.Generator().manual_seed(2)
    a, b = torch.randn(2, 50, 12, generator=g)
    a[33], b[33] = 0.0, 0.0  # blanked pulse
    return TensorDataset(a, b, torch.randint(0, 3, (50,), generator=g))


def main():
    torch.manual_seed(0)
    net = RadarNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for step, (a, b, y) in enumerate(DataLoader(sweep(), batch_size=5)):
        loss = nn.functional.cross_entropy(net(a, b), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
