"""A variational autoencoder, in PyTorch."""

import torch
from torch import nn
from torch.nn import functional as F


class ResBlock(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm = nn.GroupNorm(4, c)
        self.conv = nn.Conv2d(c, c, 3, padding=1)
        self.act = nn.LeakyReLU(0.2)

    def forward(self, x):
        return x + self.conv(self.act(self.norm(x)))


class VAE(nn.Module):
    def __init__(self, c=8, z=4):
        super().__init__()
        self.enc1 = nn.Conv2d(3, c, 4, 2, 1)
        self.res1 = ResBlock(c)
        self.enc2 = nn.Conv2d(c, 2 * c, 3, 2, padding=1)
        self.quant = nn.Conv2d(2 * c, 2 * z, 1)
        self.post = nn.Conv2d(z, 2 * c, 1)
        self.res2 = ResBlock(2 * c)
        self.up = nn.ConvTranspose2d(2 * c, c, 4, 2, 1)
        self.out = nn.Conv2d(c, 3, 3, padding=1)

    def forward(self, x):
        h = F.elu(self.enc2(self.res1(F.silu(self.enc1(x)))))
        mean, logvar = torch.chunk(self.quant(h), 2, dim=1)
        logvar = torch.clamp(logvar, -30.0, 20.0)
        std = torch.exp(0.5 * logvar)
        z = mean + std * 0.5
        y = F.silu(self.up(self.res2(self.post(z))))
        y = F.interpolate(y, scale_factor=2, mode="bilinear", align_corners=True)
        y = torch.tanh(self.out(y))
        kl = 0.5 * torch.sum(mean**2 + torch.exp(logvar) - 1.0 - logvar, dim=[1, 2, 3])
        return y, kl


def build():
    return VAE()
