"""A small Swin transformer for 32-pixel pictures, in torch."""

import torch
from torch import nn


def window_partition(x: torch.Tensor, size: int) -> torch.Tensor:
    """(B, H, W, C) cut into (windows, size * size, C)."""
    b, h, w, c = x.shape
    x = x.view(b, h // size, size, w // size, size, c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, size * size, c)


def window_reverse(windows: torch.Tensor, size: int, h: int, w: int) -> torch.Tensor:
    """The windows put together again."""
    c = windows.shape[-1]
    x = windows.view(-1, h // size, w // size, size, size, c)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, h, w, c)


def relative_index(size: int) -> torch.Tensor:
    """Which row of the bias table belongs to each pair of positions."""
    coords = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")).flatten(1)
    relative = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0) + size - 1
    return relative[..., 0] * (2 * size - 1) + relative[..., 1]


def shift_mask(h: int, w: int, size: int, shift: int) -> torch.Tensor:
    """-100 between positions that were not neighbours before the shift."""
    image = torch.zeros(1, h, w, 1)
    cuts = (slice(0, -size), slice(-size, -shift), slice(-shift, None))
    for i, rows in enumerate(cuts):
        for j, columns in enumerate(cuts):
            image[:, rows, columns, :] = i * 3 + j
    windows = window_partition(image, size).squeeze(-1)
    return (windows[:, None, :] != windows[:, :, None]).float() * -100.0


class DropPath(nn.Module):
    """Drops the branch of whole samples in training."""

    def __init__(self, drop_prob: float) -> None:
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The branch, or zero."""
        if self.drop_prob == 0.0 or not self.training:
            return x
        keep = 1 - self.drop_prob
        shape = (x.shape[0],) + (1,) * (x.ndim - 1)
        return x * x.new_empty(shape).bernoulli_(keep) / keep


class WindowAttention(nn.Module):
    """Self-attention inside a window, with relative position bias."""

    def __init__(self, dim: int, size: int, heads: int) -> None:
        super().__init__()
        self.num_heads = heads
        self.scale = (dim // heads) ** -0.5
        self.relative_position_bias_table = nn.Parameter(torch.zeros((2 * size - 1) ** 2, heads))
        self.register_buffer("relative_position_index", relative_index(size), persistent=False)
        self.qkv = nn.Linear(dim, dim * 3)
        self.attn_drop = nn.Dropout(0.1)
        self.proj = nn.Linear(dim, dim)
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """The attended windows."""
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.num_heads, c // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(n, n, -1)
        attn = attn + bias.permute(2, 0, 1).unsqueeze(0)
        if mask is not None:
            windows = mask.shape[0]
            attn = attn.view(b // windows, windows, self.num_heads, n, n) + mask[None, :, None]
            attn = attn.view(-1, self.num_heads, n, n)
        attn = self.attn_drop(attn.softmax(dim=-1))
        x = (attn @ v).transpose(1, 2).reshape(b, n, c)
        return self.proj(x)


class Mlp(nn.Module):
    """Two layers with GELU between."""

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(dim, hidden)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(hidden, dim)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        return self.drop(self.fc2(self.drop(self.act(self.fc1(x)))))


class SwinBlock(nn.Module):
    """Attention in (shifted) windows, then an MLP."""

    def __init__(self, dim: int, resolution: int, heads: int, size: int, shift: int, drop_path: float) -> None:
        super().__init__()
        self.resolution, self.size, self.shift = resolution, size, shift
        self.norm1 = nn.LayerNorm(dim)
        self.attn = WindowAttention(dim, size, heads)
        self.drop_path = DropPath(drop_path)
        self.norm2 = nn.LayerNorm(dim)
        self.mlp = Mlp(dim, dim * 2)
        mask = shift_mask(resolution, resolution, size, shift) if shift else None
        self.register_buffer("attn_mask", mask, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(B, L, C) as before."""
        h = w = self.resolution
        b, _, c = x.shape
        shortcut = x
        x = self.norm1(x).view(b, h, w, c)
        if self.shift:
            x = torch.roll(x, (-self.shift, -self.shift), (1, 2))
        windows = self.attn(window_partition(x, self.size), self.attn_mask)
        x = window_reverse(windows, self.size, h, w)
        if self.shift:
            x = torch.roll(x, (self.shift, self.shift), (1, 2))
        x = shortcut + self.drop_path(x.view(b, h * w, c))
        return x + self.drop_path(self.mlp(self.norm2(x)))


class PatchMerging(nn.Module):
    """Each two by two patches become one."""

    def __init__(self, resolution: int, dim: int) -> None:
        super().__init__()
        self.resolution = resolution
        self.norm = nn.LayerNorm(4 * dim)
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """A quarter of the positions, twice the channels."""
        b, _, c = x.shape
        x = x.view(b, self.resolution, self.resolution, c)
        parts = [x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]]
        return self.reduction(self.norm(torch.cat(parts, -1).view(b, -1, 4 * c)))


class Swin(nn.Module):
    """Two stages of two blocks."""

    def __init__(self, dim: int = 16, heads: int = 2, size: int = 4, classes: int = 10) -> None:
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, kernel_size=2, stride=2)
        self.patch_norm = nn.LayerNorm(dim)
        self.pos_drop = nn.Dropout(0.1)
        self.layers = nn.ModuleList()
        for stage in range(2):
            wide, resolution = dim * 2**stage, 16 // 2**stage
            blocks: list[nn.Module] = [
                SwinBlock(wide, resolution, heads * 2**stage, size, 0 if i == 0 else size // 2, 0.1 * stage)
                for i in range(2)
            ]
            if stage == 0:
                blocks.append(PatchMerging(resolution, wide))
            self.layers.append(nn.Sequential(*blocks))
        self.norm = nn.LayerNorm(dim * 2)
        self.head = nn.Linear(dim * 2, classes)
        self.apply(self._init)

    def _init(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.trunc_normal_(module.weight, std=0.02)
            if module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits."""
        x = self.patch_embed(x).flatten(2).transpose(1, 2)
        x = self.pos_drop(self.patch_norm(x))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x).mean(1))


def build() -> nn.Module:
    """The network."""
    return Swin()
