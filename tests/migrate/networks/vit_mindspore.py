"""A vision transformer in MindSpore: class token, position parameters; one variant with layer scale."""

from __future__ import annotations

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer


class PatchEmbed(nn.Cell):
    def __init__(self, patch_size: int, dim: int) -> None:
        super().__init__()
        self.proj = nn.Conv2d(3, dim, kernel_size=patch_size, stride=patch_size, pad_mode="valid", has_bias=True)

    def construct(self, x: Tensor) -> Tensor:
        x = self.proj(x)
        batch, dim, height, width = x.shape
        return ops.transpose(ops.reshape(x, (batch, dim, height * width)), (0, 2, 1))


class Attention(nn.Cell):
    def __init__(self, dim: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.qkv = nn.Dense(dim, dim * 3)
        self.proj = nn.Dense(dim, dim)
        self.softmax = nn.Softmax(axis=-1)

    def construct(self, x: Tensor) -> Tensor:
        batch, tokens, dim = x.shape
        qkv = ops.reshape(self.qkv(x), (batch, tokens, 3, self.num_heads, dim // self.num_heads))
        q, k, v = ops.unstack(ops.transpose(qkv, (2, 0, 3, 1, 4)), axis=0)
        attn = self.softmax(ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) * self.scale)
        out = ops.transpose(ops.matmul(attn, v), (0, 2, 1, 3))
        return self.proj(ops.reshape(out, (batch, tokens, dim)))


class Mlp(nn.Cell):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Dense(dim, hidden)
        self.act = nn.GELU(approximate=False)
        self.fc2 = nn.Dense(hidden, dim)

    def construct(self, x: Tensor) -> Tensor:
        return self.fc2(self.act(self.fc1(x)))


class LayerScale(nn.Cell):
    def __init__(self, dim: int, init_value: float = 1e-4) -> None:
        super().__init__()
        self.gamma = Parameter(initializer(init_value, dim, ms.float32))

    def construct(self, x: Tensor) -> Tensor:
        return x * self.gamma


class Block(nn.Cell):
    def __init__(self, dim: int, num_heads: int, layer_scale: bool) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm((dim,), epsilon=1e-6)
        self.attn = Attention(dim, num_heads)
        self.ls1 = LayerScale(dim) if layer_scale else nn.Identity()
        self.norm2 = nn.LayerNorm((dim,), epsilon=1e-6)
        self.mlp = Mlp(dim, dim * 2)
        self.ls2 = LayerScale(dim) if layer_scale else nn.Identity()

    def construct(self, x: Tensor) -> Tensor:
        x = x + self.ls1(self.attn(self.norm1(x)))
        return x + self.ls2(self.mlp(self.norm2(x)))


class VisionTransformer(nn.Cell):
    def __init__(self, dim: int = 32, depth: int = 3, layer_scale: bool = False, num_classes: int = 10) -> None:
        super().__init__()
        self.patch_embed = PatchEmbed(8, dim)
        self.cls_token = Parameter(initializer("zeros", (1, 1, dim), ms.float32))
        self.pos_embed = Parameter(initializer(Normal(0.02), (1, 17, dim), ms.float32))
        self.pos_drop = nn.Dropout(p=0.1)
        self.blocks = nn.SequentialCell([Block(dim, 4, layer_scale) for _ in range(depth)])
        self.norm = nn.LayerNorm((dim,), epsilon=1e-6)
        self.head = nn.Dense(dim, num_classes)

    def construct(self, x: Tensor) -> Tensor:
        x = self.patch_embed(x)
        x = ops.concat((ops.broadcast_to(self.cls_token, (x.shape[0], 1, x.shape[2])), x), axis=1)
        x = self.blocks(self.pos_drop(x + self.pos_embed))
        return self.head(self.norm(x)[:, 0])


def build() -> nn.Cell:
    """Like ViT-B/16."""
    return VisionTransformer()


def build_layer_scale() -> nn.Cell:
    """With layer scale, whose parameter is called gamma and is no norm's."""
    return VisionTransformer(layer_scale=True)
