"""Windows that are shifted, with a mask and a table of biases, in PyTorch."""

import torch
from torch import nn
from torch.nn import functional as F


def window_partition(x, w):
    b, h, wd, c = x.shape
    x = x.view(b, h // w, w, wd // w, w, c)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, w, w, c)


def window_reverse(windows, w, h, wd):
    b = int(windows.shape[0] / (h * wd / w / w))
    x = windows.view(b, h // w, wd // w, w, w, -1)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(b, h, wd, -1)


class WindowAttention(nn.Module):
    def __init__(self, dim, w, heads):
        super().__init__()
        self.heads, self.w, self.scale = heads, w, (dim // heads) ** -0.5
        self.relative_position_bias_table = nn.Parameter(torch.randn((2 * w - 1) ** 2, heads) * 0.02)
        coords = torch.stack(torch.meshgrid(torch.arange(w), torch.arange(w), indexing="ij")).flatten(1)
        rel = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0).contiguous()
        rel[:, :, 0] += w - 1
        rel[:, :, 1] += w - 1
        rel[:, :, 0] *= 2 * w - 1
        self.register_buffer("relative_position_index", rel.sum(-1))
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q * self.scale) @ k.transpose(-2, -1)
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(n, n, -1)
        attn = attn + bias.permute(2, 0, 1).unsqueeze(0)
        if mask is not None:
            nw = mask.shape[0]
            attn = attn.view(b // nw, nw, self.heads, n, n) + mask.unsqueeze(1).unsqueeze(0)
            attn = attn.view(-1, self.heads, n, n)
        attn = attn.softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(b, n, c))


class Block(nn.Module):
    def __init__(self, dim, size, heads, w, shift):
        super().__init__()
        self.size, self.w, self.shift = size, w, shift
        self.norm1 = nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, w, heads)
        self.norm2 = nn.LayerNorm(dim)
        self.fc1 = nn.Linear(dim, 4 * dim)
        self.fc2 = nn.Linear(4 * dim, dim)
        if shift:
            img = torch.zeros(1, size, size, 1)
            count = 0
            for h in (slice(0, -w), slice(-w, -shift), slice(-shift, None)):
                for v in (slice(0, -w), slice(-w, -shift), slice(-shift, None)):
                    img[:, h, v, :] = count
                    count += 1
            windows = window_partition(img, w).view(-1, w * w)
            mask = windows.unsqueeze(1) - windows.unsqueeze(2)
            mask = mask.masked_fill(mask != 0, -100.0).masked_fill(mask == 0, 0.0)
            self.register_buffer("attn_mask", mask)
        else:
            self.attn_mask = None

    def forward(self, x):
        s = self.size
        b, n, c = x.shape
        short = x
        x = self.norm1(x).view(b, s, s, c)
        if self.shift:
            x = torch.roll(x, shifts=(-self.shift, -self.shift), dims=(1, 2))
        windows = window_partition(x, self.w).view(-1, self.w * self.w, c)
        windows = self.attn(windows, self.attn_mask).view(-1, self.w, self.w, c)
        x = window_reverse(windows, self.w, s, s)
        if self.shift:
            x = torch.roll(x, shifts=(self.shift, self.shift), dims=(1, 2))
        x = short + x.view(b, n, c)
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x))))


class Merging(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.size = size
        self.norm = nn.LayerNorm(4 * dim)
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)

    def forward(self, x):
        b, _, c = x.shape
        x = x.view(b, self.size, self.size, c)
        x0 = x[:, 0::2, 0::2, :]
        x1 = x[:, 1::2, 0::2, :]
        x2 = x[:, 0::2, 1::2, :]
        x3 = x[:, 1::2, 1::2, :]
        x = torch.cat([x0, x1, x2, x3], -1).view(b, -1, 4 * c)
        return self.reduction(self.norm(x))


class Swin(nn.Module):
    def __init__(self, dim=16, heads=2, w=4, size=8):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, 4, 4)
        self.norm0 = nn.LayerNorm(dim)
        self.block1 = Block(dim, size, heads, w, 0)
        self.block2 = Block(dim, size, heads, w, w // 2)
        self.merge = Merging(dim, size)
        self.norm = nn.LayerNorm(2 * dim)
        self.head = nn.Linear(2 * dim, 10)

    def forward(self, x):
        x = self.norm0(self.patch(x).flatten(2).transpose(1, 2))
        x = self.merge(self.block2(self.block1(x)))
        return self.head(self.norm(x).mean(dim=1))


def build():
    return Swin()
