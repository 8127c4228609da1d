"""Two towers and a temperature, in MindSpore."""

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer


class QuickGELU(nn.Cell):
    def construct(self, x):
        return x * ops.sigmoid(1.702 * x)


class MHA(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.hd = heads, dim // heads
        self.in_proj = nn.Dense(dim, 3 * dim)
        self.out_proj = nn.Dense(dim, dim)

    def construct(self, x, mask=None):
        b, n, c = x.shape
        q, k, v = ops.chunk(self.in_proj(x), 3, axis=-1)
        q = q.reshape(b, n, self.heads, self.hd).swapaxes(1, 2) * self.hd**-0.5
        k = k.reshape(b, n, self.heads, self.hd).swapaxes(1, 2)
        v = v.reshape(b, n, self.heads, self.hd).swapaxes(1, 2)
        att = ops.matmul(q, k.swapaxes(-1, -2))
        if mask is not None:
            att = att + mask
        att = ops.softmax(att, axis=-1)
        return self.out_proj(ops.matmul(att, v).swapaxes(1, 2).reshape(b, n, c))


class Block(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.attn = MHA(dim, heads)
        self.ln_1 = nn.LayerNorm((dim,), epsilon=1e-5)
        self.c_fc = nn.Dense(dim, dim * 4)
        self.gelu = QuickGELU()
        self.c_proj = nn.Dense(dim * 4, dim)
        self.ln_2 = nn.LayerNorm((dim,), epsilon=1e-5)

    def construct(self, x, mask=None):
        x = x + self.attn(self.ln_1(x), mask)
        return x + self.c_proj(self.gelu(self.c_fc(self.ln_2(x))))


class CLIP(nn.Cell):
    def __init__(self, dim=32, heads=4, vocab=40, length=8, embed=16):
        super().__init__()
        self.conv1 = nn.Conv2d(3, dim, 4, 4, pad_mode="valid", has_bias=False)
        self.class_embedding = Parameter(initializer(Normal(0.1), (dim,)))
        self.positional = Parameter(initializer(Normal(0.1), (17, dim)))
        self.ln_pre = nn.LayerNorm((dim,), epsilon=1e-5)
        self.visual = Block(dim, heads)
        self.ln_post = nn.LayerNorm((dim,), epsilon=1e-5)
        self.proj = Parameter(initializer(Normal(0.1), (dim, embed)))
        self.token_embedding = nn.Embedding(vocab, dim, embedding_table=Normal(1.0))
        self.text_positional = Parameter(initializer(Normal(0.1), (length, dim)))
        self.text = Block(dim, heads)
        self.ln_final = nn.LayerNorm((dim,), epsilon=1e-5)
        self.text_projection = Parameter(initializer(Normal(0.1), (dim, embed)))
        self.logit_scale = Parameter(Tensor(2.6593, ms.float32))

    def construct(self, image, text):
        x = self.conv1(image)
        x = x.reshape(x.shape[0], x.shape[1], -1).permute(0, 2, 1)
        cls = ops.broadcast_to(self.class_embedding, (x.shape[0], 1, x.shape[-1]))
        x = self.ln_pre(ops.cat([cls, x], axis=1) + self.positional)
        x = self.visual(x)
        image_features = ops.matmul(self.ln_post(x[:, 0, :]), self.proj)
        t = self.token_embedding(text) + self.text_positional
        n = text.shape[1]
        mask = ops.triu(ops.full((n, n), float("-inf")), 1)
        t = self.ln_final(self.text(t, mask))
        text_features = ops.matmul(t[ops.arange(t.shape[0]), text.argmax(axis=-1)], self.text_projection)
        image_features = image_features / image_features.norm(dim=1, keepdim=True)
        text_features = text_features / text_features.norm(dim=1, keepdim=True)
        logits = ops.matmul(self.logit_scale.exp() * image_features, text_features.T)
        return logits, logits.T


def build():
    return CLIP()
