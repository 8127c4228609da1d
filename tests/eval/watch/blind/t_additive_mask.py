"""Point-cloud transformer; an additive mask is built only for ragged batches."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def additive_mask(keep):
    return (1.0 - keep) * float("-inf")


class CloudAttention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)

    def forward(self, x, bias=None):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / x.shape[-1] ** 0.5
        if bias is not None:
            scores = scores + bias[:, None, :]
        return scores.softmax(-1) @ self.v(x)


class CloudNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.lift = nn.Linear(3, 16)
        self.attn = CloudAttention(16)
        self.head = nn.Linear(16, 4)

    def forward(self, points, keep):
        bias = None
        if bool((keep == 0).any()):
            bias = additive_mask(keep)
        return self.head(self.attn(self.lift(points), bias).mean(1))


def clouds():
    g = torch.Generator().manual_seed(14)
    points = torch.randn(48, 10, 3, generator=g)
    keep = torch.ones(48, 10)
    keep[22, 7:] = 0
    keep[35, 5:] = 0
    return TensorDataset(points, keep, torch.randint(0, 4, (48,), generator=g))


def main():
    torch.manual_seed(0)
    net = CloudNet()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step, (points, keep, label) in enumerate(DataLoader(clouds(), batch_size=6)):
        loss = nn.functional.cross_entropy(net(points, keep), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
