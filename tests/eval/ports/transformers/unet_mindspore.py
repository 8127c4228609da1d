"""A diffusion UNet with time embedding and attention, in MindSpore."""

import math

import mindspore as ms
from mindspore import nn, ops


def timestep_embedding(t, dim):
    half = dim // 2
    exponent = -math.log(10000) * ops.arange(half).astype(ms.float32) / (half - 1)
    emb = t[:, None].astype(ms.float32) * ops.exp(exponent)[None, :]
    return ops.cat([ops.sin(emb), ops.cos(emb)], axis=-1)


def conv(cin, cout, k, stride=1, padding=0):
    return nn.Conv2d(cin, cout, k, stride, pad_mode="pad", padding=padding, has_bias=True)


class Resnet(nn.Cell):
    def __init__(self, cin, cout, temb, groups=4):
        super().__init__()
        self.norm1 = nn.GroupNorm(groups, cin, eps=1e-6)
        self.conv1 = conv(cin, cout, 3, padding=1)
        self.time_emb_proj = nn.Dense(temb, cout)
        self.norm2 = nn.GroupNorm(groups, cout, eps=1e-6)
        self.dropout = nn.Dropout(p=0.1)
        self.conv2 = conv(cout, cout, 3, padding=1)
        self.conv_shortcut = conv(cin, cout, 1) if cin != cout else None

    def construct(self, x, temb):
        h = self.conv1(ops.silu(self.norm1(x)))
        h = h + self.time_emb_proj(ops.silu(temb))[:, :, None, None]
        h = self.conv2(self.dropout(ops.silu(self.norm2(h))))
        if self.conv_shortcut is not None:
            x = self.conv_shortcut(x)
        return (x + h) / 1.4142135


class Downsample(nn.Cell):
    def __init__(self, c):
        super().__init__()
        self.conv = conv(c, c, 3, stride=2, padding=0)

    def construct(self, x):
        x = ops.pad(x, (0, 1, 0, 1), mode="constant", value=0)
        return self.conv(x)


class Upsample(nn.Cell):
    def __init__(self, c):
        super().__init__()
        self.conv = conv(c, c, 3, padding=1)

    def construct(self, x):
        x = ops.interpolate(x, size=(x.shape[2] * 2, x.shape[3] * 2), mode="nearest")
        return self.conv(x)


class SelfAttn(nn.Cell):
    def __init__(self, c, groups=4):
        super().__init__()
        self.group_norm = nn.GroupNorm(groups, c, eps=1e-6)
        self.to_q = nn.Dense(c, c)
        self.to_k = nn.Dense(c, c)
        self.to_v = nn.Dense(c, c)
        self.to_out = nn.Dense(c, c)

    def construct(self, x):
        b, c, h, w = x.shape
        y = self.group_norm(x).view(b, c, h * w).swapaxes(1, 2)
        q, k, v = self.to_q(y), self.to_k(y), self.to_v(y)
        att = ops.softmax(ops.bmm(q, k.swapaxes(1, 2)) / math.sqrt(c), axis=-1)
        y = self.to_out(ops.bmm(att, v)).swapaxes(1, 2).reshape(b, c, h, w)
        return x + y


class UNet(nn.Cell):
    def __init__(self, cin=3, c=8, temb=32):
        super().__init__()
        self.c = c
        self.conv_in = conv(cin, c, 3, padding=1)
        self.time_1 = nn.Dense(c, temb)
        self.time_2 = nn.Dense(temb, temb)
        self.down1 = Resnet(c, c, temb)
        self.ds = Downsample(c)
        self.down2 = Resnet(c, 2 * c, temb)
        self.mid = SelfAttn(2 * c)
        self.up2 = Resnet(4 * c, 2 * c, temb)
        self.us = Upsample(2 * c)
        self.up1 = Resnet(3 * c, c, temb)
        self.pool = nn.AvgPool2d(3, 1, pad_mode="pad", padding=1)
        self.norm_out = nn.GroupNorm(4, c, eps=1e-6)
        self.conv_out = conv(c, cin, 3, padding=1)

    def construct(self, x, t):
        temb = self.time_2(ops.silu(self.time_1(timestep_embedding(t, self.c))))
        x0 = self.conv_in(x)
        h1 = self.down1(x0, temb)
        h2 = self.down2(self.ds(h1), temb)
        h = self.mid(h2)
        h = self.up2(ops.cat([h, h2], axis=1), temb)
        h = self.us(h)
        h = self.up1(ops.cat([h, h1], axis=1), temb)
        h = self.pool(h)
        h = ops.interpolate(h, size=(12, 12), mode="bilinear", align_corners=False)
        return self.conv_out(ops.silu(self.norm_out(h)))


def build():
    return UNet()
