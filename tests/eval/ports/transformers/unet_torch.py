"""A diffusion UNet with time embedding and attention, in PyTorch."""

import math

import torch
from torch import nn
from torch.nn import functional as F


def timestep_embedding(t, dim):
    half = dim // 2
    exponent = -math.log(10000) * torch.arange(half, dtype=torch.float32) / (half - 1)
    emb = t[:, None].float() * torch.exp(exponent)[None, :]
    return torch.cat([torch.sin(emb), torch.cos(emb)], dim=-1)


class Resnet(nn.Module):
    def __init__(self, cin, cout, temb, groups=4):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, cin, eps=1e-6)
        self.conv1 = nn.Conv2d(cin, cout, 3, padding=1)
        self.time_emb_proj = nn.Linear(temb, cout)
        self.norm2 = nn.GroupNorm(groups, cout, eps=1e-6)
        self.dropout = nn.Dropout(0.1)
        self.conv2 = nn.Conv2d(cout, cout, 3, padding=1)
        self.conv_shortcut = nn.Conv2d(cin, cout, 1) if cin != cout else None

    def forward(self, x, temb):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.time_emb_proj(F.silu(temb))[:, :, None, None]
        h = self.conv2(self.dropout(F.silu(self.norm2(h))))
        if self.conv_shortcut is not None:
            x = self.conv_shortcut(x)
        return (x + h) / 1.4142135


class Downsample(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, stride=2, padding=0)

    def forward(self, x):
        x = F.pad(x, (0, 1, 0, 1), mode="constant", value=0)
        return self.conv(x)


class Upsample(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1)

    def forward(self, x):
        x = F.interpolate(x, scale_factor=2.0, mode="nearest")
        return self.conv(x)


class SelfAttn(nn.Module):
    def __init__(self, c, groups=4):
        super().__init__()
        self.group_norm = nn.GroupNorm(groups, c, eps=1e-6)
        self.to_q = nn.Linear(c, c)
        self.to_k = nn.Linear(c, c)
        self.to_v = nn.Linear(c, c)
        self.to_out = nn.Linear(c, c)

    def forward(self, x):
        b, c, h, w = x.shape
        y = self.group_norm(x).view(b, c, h * w).transpose(1, 2)
        q, k, v = self.to_q(y), self.to_k(y), self.to_v(y)
        att = torch.softmax(torch.bmm(q, k.transpose(1, 2)) / math.sqrt(c), dim=-1)
        y = self.to_out(torch.bmm(att, v)).transpose(1, 2).reshape(b, c, h, w)
        return x + y


class UNet(nn.Module):
    def __init__(self, cin=3, c=8, temb=32):
        super().__init__()
        self.c = c
        self.conv_in = nn.Conv2d(cin, c, 3, padding=1)
        self.time_1 = nn.Linear(c, temb)
        self.time_2 = nn.Linear(temb, temb)
        self.down1 = Resnet(c, c, temb)
        self.ds = Downsample(c)
        self.down2 = Resnet(c, 2 * c, temb)
        self.mid = SelfAttn(2 * c)
        self.up2 = Resnet(4 * c, 2 * c, temb)
        self.us = Upsample(2 * c)
        self.up1 = Resnet(3 * c, c, temb)
        self.pool = nn.AvgPool2d(3, 1, 1)
        self.norm_out = nn.GroupNorm(4, c, eps=1e-6)
        self.conv_out = nn.Conv2d(c, cin, 3, padding=1)

    def forward(self, x, t):
        temb = self.time_2(F.silu(self.time_1(timestep_embedding(t, self.c))))
        x0 = self.conv_in(x)
        h1 = self.down1(x0, temb)
        h2 = self.down2(self.ds(h1), temb)
        h = self.mid(h2)
        h = self.up2(torch.cat([h, h2], dim=1), temb)
        h = self.us(h)
        h = self.up1(torch.cat([h, h1], dim=1), temb)
        h = self.pool(h)
        h = F.interpolate(h, size=(12, 12), mode="bilinear", align_corners=False)
        return self.conv_out(F.silu(self.norm_out(h)))


def build():
    return UNet()
