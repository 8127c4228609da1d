"""A vision transformer, in MindSpore."""

from mindspore import Parameter, nn, ops
from mindspore.common.initializer import Normal, initializer


class Attention(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.scale = heads, (dim // heads) ** -0.5
        self.qkv = nn.Dense(dim, dim * 3)
        self.proj = nn.Dense(dim, dim)
        self.softmax = nn.Softmax(axis=-1)

    def construct(self, x):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).transpose(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = ops.BatchMatMul(transpose_b=True)(q, k) * self.scale
        attn = self.softmax(attn)
        x = ops.BatchMatMul()(attn, v)
        return self.proj(x.transpose(0, 2, 1, 3).reshape(b, n, c))


class Block(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm((dim,), epsilon=1e-6)
        self.attn = Attention(dim, heads)
        self.norm2 = nn.LayerNorm((dim,), epsilon=1e-6)
        self.mlp = nn.SequentialCell(
            nn.Dense(dim, dim * 4), nn.GELU(approximate=False), nn.Dropout(p=0.1), nn.Dense(dim * 4, dim)
        )

    def construct(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Cell):
    def __init__(self, dim=32, heads=4, layers=2, size=16, patch=4):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, patch, patch, pad_mode="valid", has_bias=True)
        self.cls_token = Parameter(initializer("zeros", (1, 1, dim)))
        self.pos_embed = Parameter(initializer(Normal(0.02), (1, (size // patch) ** 2 + 1, dim)))
        self.blocks = nn.SequentialCell(*[Block(dim, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm((dim,), epsilon=1e-6)
        self.head = nn.Dense(dim, 10)

    def construct(self, x):
        x = self.patch_embed(x)
        b, c, h, w = x.shape
        x = x.reshape(b, c, h * w).transpose(0, 2, 1)
        x = ops.cat((ops.tile(self.cls_token, (b, 1, 1)), x), axis=1)
        x = x + self.pos_embed
        x = self.norm(self.blocks(x))
        return self.head(x[:, 0])


def build():
    return ViT()
