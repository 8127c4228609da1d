"""Windows that are shifted, with a mask and a table of biases, in MindSpore."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer


def window_partition(x, w):
    b, h, wd, c = x.shape
    x = x.reshape(b, h // w, w, wd // w, w, c)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(-1, w, w, c)


def window_reverse(windows, w, h, wd):
    b = int(windows.shape[0] / (h * wd / w / w))
    x = windows.reshape(b, h // w, wd // w, w, w, -1)
    return x.transpose(0, 1, 3, 2, 4, 5).reshape(b, h, wd, -1)


def roll(x, shift):
    for axis in (1, 2):
        n = x.shape[axis]
        k = shift % n
        head, tail = ops.split(x, [n - k, k], axis=axis)
        x = ops.cat((tail, head), axis=axis)
    return x


class WindowAttention(nn.Cell):
    def __init__(self, dim, w, heads):
        super().__init__()
        self.heads, self.w, self.scale = heads, w, (dim // heads) ** -0.5
        self.relative_position_bias_table = Parameter(initializer(Normal(0.02), ((2 * w - 1) ** 2, heads)))
        coords = np.stack(np.meshgrid(np.arange(w), np.arange(w), indexing="ij")).reshape(2, -1)
        rel = (coords[:, :, None] - coords[:, None, :]).transpose(1, 2, 0).copy()
        rel[:, :, 0] += w - 1
        rel[:, :, 1] += w - 1
        rel[:, :, 0] *= 2 * w - 1
        self.relative_position_index = Tensor(rel.sum(-1).reshape(-1), ms.int32)
        self.qkv = nn.Dense(dim, dim * 3)
        self.proj = nn.Dense(dim, dim)

    def construct(self, x, mask=None):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).transpose(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = ops.matmul(q * self.scale, k.swapaxes(-2, -1))
        bias = self.relative_position_bias_table[self.relative_position_index].reshape(n, n, -1)
        attn = attn + bias.transpose(2, 0, 1).expand_dims(0)
        if mask is not None:
            nw = mask.shape[0]
            attn = attn.reshape(b // nw, nw, self.heads, n, n) + mask.expand_dims(1).expand_dims(0)
            attn = attn.reshape(-1, self.heads, n, n)
        attn = ops.softmax(attn, axis=-1)
        return self.proj(ops.matmul(attn, v).swapaxes(1, 2).reshape(b, n, c))


class Block(nn.Cell):
    def __init__(self, dim, size, heads, w, shift):
        super().__init__()
        self.size, self.w, self.shift = size, w, shift
        self.norm1 = nn.LayerNorm((dim,), epsilon=1e-5)
        self.attn = WindowAttention(dim, w, heads)
        self.norm2 = nn.LayerNorm((dim,), epsilon=1e-5)
        self.fc1 = nn.Dense(dim, 4 * dim)
        self.fc2 = nn.Dense(4 * dim, dim)
        if shift:
            img = np.zeros((1, size, size, 1), np.float32)
            count = 0
            for h in (slice(0, -w), slice(-w, -shift), slice(-shift, None)):
                for v in (slice(0, -w), slice(-w, -shift), slice(-shift, None)):
                    img[:, h, v, :] = count
                    count += 1
            windows = img.reshape(1, size // w, w, size // w, w, 1).transpose(0, 1, 3, 2, 4, 5).reshape(-1, w * w)
            mask = windows[:, None, :] - windows[:, :, None]
            self.attn_mask = Tensor(np.where(mask != 0, -100.0, 0.0).astype(np.float32))
        else:
            self.attn_mask = None

    def construct(self, x):
        s = self.size
        b, n, c = x.shape
        short = x
        x = self.norm1(x).reshape(b, s, s, c)
        if self.shift:
            x = roll(x, -self.shift)
        windows = window_partition(x, self.w).reshape(-1, self.w * self.w, c)
        windows = self.attn(windows, self.attn_mask).reshape(-1, self.w, self.w, c)
        x = window_reverse(windows, self.w, s, s)
        if self.shift:
            x = roll(x, self.shift)
        x = short + x.reshape(b, n, c)
        return x + self.fc2(ops.gelu(self.fc1(self.norm2(x)), approximate="none"))


class Merging(nn.Cell):
    def __init__(self, dim, size):
        super().__init__()
        self.size = size
        self.norm = nn.LayerNorm((4 * dim,), epsilon=1e-5)
        self.reduction = nn.Dense(4 * dim, 2 * dim, has_bias=False)

    def construct(self, x):
        b, _, c = x.shape
        x = x.reshape(b, self.size // 2, 2, self.size // 2, 2, c)
        x0 = x[:, :, 0, :, 0]
        x1 = x[:, :, 1, :, 0]
        x2 = x[:, :, 0, :, 1]
        x3 = x[:, :, 1, :, 1]
        x = ops.cat([x0, x1, x2, x3], -1).reshape(b, -1, 4 * c)
        return self.reduction(self.norm(x))


class Swin(nn.Cell):
    def __init__(self, dim=16, heads=2, w=4, size=8):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, 4, 4, pad_mode="valid", has_bias=True)
        self.norm0 = nn.LayerNorm((dim,), epsilon=1e-5)
        self.block1 = Block(dim, size, heads, w, 0)
        self.block2 = Block(dim, size, heads, w, w // 2)
        self.merge = Merging(dim, size)
        self.norm = nn.LayerNorm((2 * dim,), epsilon=1e-5)
        self.head = nn.Dense(2 * dim, 10)

    def construct(self, x):
        x = self.patch(x)
        x = self.norm0(x.reshape(x.shape[0], x.shape[1], -1).transpose(0, 2, 1))
        x = self.merge(self.block2(self.block1(x)))
        return self.head(self.norm(x).mean(axis=1))


def build():
    return Swin()
