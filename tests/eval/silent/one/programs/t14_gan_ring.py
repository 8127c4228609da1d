import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader


def ring(n, seed=0):
    g = torch.Generator().manual_seed(seed)
    angle = torch.randint(0, 8, (n,), generator=g) * (2 * math.pi / 8)
    centre = torch.stack([angle.cos(), angle.sin()], dim=1)
    return centre + 0.05 * torch.randn(n, 2, generator=g)


class Generator(nn.Module):
    def __init__(self, z_dim=8, width=32):
        super().__init__()
        self.z_dim = z_dim
        self.body = nn.Sequential(nn.Linear(z_dim, width), nn.ReLU(),
                                  nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2))

    def sample(self, n):
        return self.body(torch.randn(n, self.z_dim))


class Discriminator(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.LeakyReLU(0.2),
                                  nn.Linear(width, width), nn.LeakyReLU(0.2), nn.Linear(width, 1))

    def forward(self, x):
        return self.body(x).squeeze(1)


def d_loss(d, real, fake):
    return F.softplus(-d(real)).mean() + F.softplus(d(fake)).mean()


def g_loss(d, fake):
    return F.softplus(-d(fake)).mean()


def main():
    torch.manual_seed(0)
    gen, dis = Generator(), Discriminator()
    opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.5, 0.999))
    opt_d = torch.optim.Adam(dis.parameters(), lr=1e-3, betas=(0.5, 0.999))
    loader = DataLoader(ring(1024), batch_size=64, shuffle=True)
    for epoch in range(6):
        sums = [0.0, 0.0]
        for real in loader:
            loss_d = d_loss(dis, real, gen.sample(len(real)).detach())
            loss_d.backward()
            opt_d.step()
            opt_d.zero_grad()

            loss_g = g_loss(dis, gen.sample(len(real)))
            loss_g.backward()
            opt_g.step()
            opt_g.zero_grad()
            sums[0] += loss_d.item()
            sums[1] += loss_g.item()
        print(f"epoch {epoch} d {sums[0] / len(loader):.4f} g {sums[1] / len(loader):.4f}")


main()
