"""A small Swin transformer for 32-pixel pictures, in MindSpore."""

import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import TruncatedNormal, initializer


def linear(cin: int, cout: int, bias: bool = True) -> nn.Cell:
    """A layer with the small weights of the paper."""
    return nn.Dense(cin, cout, weight_init=TruncatedNormal(0.02), bias_init="zeros", has_bias=bias)


def roll(x: Tensor, by: int) -> Tensor:
    """Rows and columns moved round by `by`; there is no such kernel for the CPU."""
    x = ops.cat((x[:, -by:], x[:, :-by]), 1)
    return ops.cat((x[:, :, -by:], x[:, :, :-by]), 2)


def window_partition(x: Tensor, size: int) -> Tensor:
    """(B, H, W, C) cut into (windows, size * size, C)."""
    b, h, w, c = x.shape
    x = x.reshape((b, h // size, size, w // size, size, c))
    return x.transpose((0, 1, 3, 2, 4, 5)).reshape((-1, size * size, c))


def window_reverse(windows: Tensor, size: int, h: int, w: int) -> Tensor:
    """The windows put together again."""
    c = windows.shape[-1]
    x = windows.reshape((-1, h // size, w // size, size, size, c))
    return x.transpose((0, 1, 3, 2, 4, 5)).reshape((-1, h, w, c))


def relative_index(size: int) -> np.ndarray:
    """Which row of the bias table belongs to each pair of positions."""
    coords = np.stack(np.meshgrid(np.arange(size), np.arange(size), indexing="ij")).reshape(2, -1)
    relative = (coords[:, :, None] - coords[:, None, :]).transpose(1, 2, 0) + size - 1
    return (relative[..., 0] * (2 * size - 1) + relative[..., 1]).reshape(-1).astype(np.int32)


def shift_mask(h: int, w: int, size: int, shift: int) -> Tensor:
    """-100 between positions that were not neighbours before the shift."""
    image = np.zeros((h, w), np.float32)
    cuts = (slice(0, -size), slice(-size, -shift), slice(-shift, None))
    for i, rows in enumerate(cuts):
        for j, columns in enumerate(cuts):
            image[rows, columns] = i * 3 + j
    windows = image.reshape(h // size, size, w // size, size).transpose(0, 2, 1, 3).reshape(-1, size * size)
    return Tensor((windows[:, None, :] != windows[:, :, None]).astype(np.float32) * -100.0)


class DropPath(nn.Cell):
    """Drops the branch of whole samples in training."""

    def __init__(self, drop_prob: float) -> None:
        super().__init__()
        self.drop = nn.Dropout(p=drop_prob)

    def construct(self, x: Tensor) -> Tensor:
        """The branch, or zero."""
        if not self.training:
            return x
        return x * self.drop(ops.ones((x.shape[0],) + (1,) * (x.ndim - 1), x.dtype))


class WindowAttention(nn.Cell):
    """Self-attention inside a window, with relative position bias."""

    def __init__(self, dim: int, size: int, heads: int) -> None:
        super().__init__()
        self.num_heads = heads
        self.scale = (dim // heads) ** -0.5
        table = initializer(TruncatedNormal(0.02), ((2 * size - 1) ** 2, heads))
        self.relative_position_bias_table = Parameter(table)
        self.index = Tensor(relative_index(size))
        self.qkv = linear(dim, dim * 3)
        self.attn_drop = nn.Dropout(p=0.1)
        self.proj = linear(dim, dim)
        self.softmax = nn.Softmax(axis=-1)

    def construct(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """The attended windows."""
        b, n, c = x.shape
        qkv = self.qkv(x).reshape((b, n, 3, self.num_heads, c // self.num_heads)).transpose((2, 0, 3, 1, 4))
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = ops.matmul(q * self.scale, k.swapaxes(-2, -1))
        bias = ops.gather(self.relative_position_bias_table, self.index, 0)
        bias = bias.reshape((n, n, self.num_heads)).transpose((2, 0, 1))
        attn = attn + bias.expand_dims(0)
        if mask is not None:
            windows = mask.shape[0]
            attn = attn.reshape((b // windows, windows, self.num_heads, n, n)) + mask.expand_dims(1).expand_dims(0)
            attn = attn.reshape((-1, self.num_heads, n, n))
        attn = self.attn_drop(self.softmax(attn))
        x = ops.matmul(attn, v).transpose((0, 2, 1, 3)).reshape((b, n, c))
        return self.proj(x)


class SwinBlock(nn.Cell):
    """Attention in (shifted) windows, then an MLP."""

    def __init__(self, dim: int, resolution: int, heads: int, size: int, shift: int, drop_path: float) -> None:
        super().__init__()
        self.resolution, self.size, self.shift = resolution, size, shift
        self.norm1 = nn.LayerNorm((dim,), epsilon=1e-5)
        self.attn = WindowAttention(dim, size, heads)
        self.drop_path = DropPath(drop_path)
        self.norm2 = nn.LayerNorm((dim,), epsilon=1e-5)
        self.mlp = nn.SequentialCell(
            linear(dim, dim * 2),
            nn.GELU(approximate=False),
            nn.Dropout(p=0.1),
            linear(dim * 2, dim),
            nn.Dropout(p=0.1),
        )
        self.attn_mask = shift_mask(resolution, resolution, size, shift) if shift else None

    def construct(self, x: Tensor) -> Tensor:
        """(B, L, C) as before."""
        h = w = self.resolution
        b, length, c = x.shape
        y = self.norm1(x).reshape((b, h, w, c))
        if self.shift:
            y = roll(y, -self.shift)
        y = self.attn(window_partition(y, self.size), self.attn_mask)
        y = window_reverse(y, self.size, h, w)
        if self.shift:
            y = roll(y, self.shift)
        x = x + self.drop_path(y.reshape((b, length, c)))
        return x + self.drop_path(self.mlp(self.norm2(x)))


class PatchMerging(nn.Cell):
    """Each two by two patches become one."""

    def __init__(self, resolution: int, dim: int) -> None:
        super().__init__()
        self.resolution = resolution
        self.norm = nn.LayerNorm((4 * dim,), epsilon=1e-5)
        self.reduction = linear(4 * dim, 2 * dim, bias=False)

    def construct(self, x: Tensor) -> Tensor:
        """A quarter of the positions, twice the channels."""
        b, _, c = x.shape
        half = self.resolution // 2
        x = x.reshape((b, half, 2, half, 2, c)).transpose((0, 1, 3, 4, 2, 5))
        return self.reduction(self.norm(x.reshape((b, half * half, 4 * c))))


class PatchEmbed(nn.Cell):
    """Patches as a sequence, normalised."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.proj = nn.Conv2d(3, dim, kernel_size=2, stride=2, pad_mode="valid", has_bias=True)
        self.norm = nn.LayerNorm((dim,), epsilon=1e-5)

    def construct(self, x: Tensor) -> Tensor:
        """(B, L, C)."""
        x = self.proj(x)
        b, c, h, w = x.shape
        return self.norm(x.reshape((b, c, h * w)).transpose((0, 2, 1)))


class Swin(nn.Cell):
    """Two stages of two blocks."""

    def __init__(self, dim: int = 16, heads: int = 2, size: int = 4, classes: int = 10) -> None:
        super().__init__()
        self.patch_embed = PatchEmbed(dim)
        self.pos_drop = nn.Dropout(p=0.1)
        self.stage1 = nn.CellList(
            [SwinBlock(dim, 16, heads, size, 0, 0.0), SwinBlock(dim, 16, heads, size, size // 2, 0.0)]
        )
        self.merge = PatchMerging(16, dim)
        self.stage2 = nn.CellList(
            [SwinBlock(2 * dim, 8, 2 * heads, size, 0, 0.1), SwinBlock(2 * dim, 8, 2 * heads, size, size // 2, 0.1)]
        )
        self.norm = nn.LayerNorm((dim * 2,), epsilon=1e-5)
        self.head = linear(dim * 2, classes)

    def construct(self, x: Tensor) -> Tensor:
        """Logits."""
        x = self.pos_drop(self.patch_embed(x))
        for block in self.stage1:
            x = block(x)
        x = self.merge(x)
        for block in self.stage2:
            x = block(x)
        return self.head(self.norm(x).mean(1))


def build() -> nn.Cell:
    """The network."""
    return Swin()
