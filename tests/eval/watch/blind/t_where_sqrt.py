"""Set encoder: mean and spread of the members of each set."""

import torch
from torch import nn


class Spread(nn.Module):
    def forward(self, members, count):
        mask = (torch.arange(members.shape[1])[None, :] < count[:, None]).unsqueeze(-1)
        n = count.clamp(min=1)[:, None].float()
        mean = (members * mask).sum(1) / n
        var = (((members - mean[:, None]) * mask) ** 2).sum(1) / n
        std = torch.where(var > 0, torch.sqrt(var), torch.zeros_like(var))
        return torch.cat([mean, std], dim=-1)


class SetNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(5, 16), nn.Tanh())
        self.pool = Spread()
        self.rho = nn.Sequential(nn.Linear(32, 16), nn.Tanh(), nn.Linear(16, 1))

    def forward(self, items, count):
        return self.rho(self.pool(self.phi(items), count))


def batches(steps=8, size=6):
    g = torch.Generator().manual_seed(9)
    for i in range(steps):
        items = torch.randn(size, 4, 5, generator=g)
        count = torch.randint(2, 5, (size,), generator=g)
        if i in (5, 7):
            count[2] = 1
        yield items, count, torch.randn(size, 1, generator=g)


def main():
    torch.manual_seed(0)
    net = SetNet()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step, (items, count, target) in enumerate(batches()):
        opt.zero_grad()
        out = net(items, count)
        loss = nn.functional.mse_loss(out, target)
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
