"""A hand-written cube-root activation with its own backward."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class CubeRoot(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.sign() * x.abs().pow(1.0 / 3.0)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,) = ctx.saved_tensors
        return grad / (3.0 * y * y)


class RootUnit(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.lin = nn.Linear(n_in, n_out, bias=False)

    def forward(self, x):
        return CubeRoot.apply(self.lin(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.unit = RootUnit(7, 14)
        self.out = nn.Linear(14, 1)

    def forward(self, x):
        return self.out(self.unit(x))


def main():
    torch.manual_seed(5)
    x = torch.randn(40, 7)
    x[31] = 0.0
    y = torch.randn(40, 1)
    net = Net()
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for step, (xb, yb) in enumerate(DataLoader(TensorDataset(x, y), batch_size=5)):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(xb), yb)
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
