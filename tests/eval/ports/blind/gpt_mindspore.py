"""A small GPT-2-like decoder, in MindSpore."""

import math

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal


def dense(cin: int, cout: int, std: float = 0.02, bias: bool = True) -> nn.Cell:
    """A layer with GPT-2's initial weights."""
    return nn.Dense(cin, cout, weight_init=Normal(std), bias_init="zeros", has_bias=bias)


class CausalAttention(nn.Cell):
    """Attention that sees only what came before."""

    def __init__(self, width: int, heads: int, block: int, std: float) -> None:
        super().__init__()
        self.heads = heads
        self.head_dim = width // heads
        self.qkv = dense(width, 3 * width)
        self.proj = dense(width, width, std)
        self.attn_drop = nn.Dropout(p=0.1)
        self.resid_drop = nn.Dropout(p=0.1)
        self.mask = Tensor(np.triu(np.ones((block, block), bool), 1))

    def split_heads(self, x: Tensor) -> Tensor:
        """(B, heads, T, head width)."""
        b, t, _ = x.shape
        return x.reshape((b, t, self.heads, self.head_dim)).transpose((0, 2, 1, 3))

    def construct(self, x: Tensor) -> Tensor:
        """The same shape."""
        b, t, c = x.shape
        q, k, v = ops.chunk(self.qkv(x), 3, -1)
        q, k, v = self.split_heads(q), self.split_heads(k), self.split_heads(v)
        scores = ops.matmul(q, k.swapaxes(-2, -1)) / math.sqrt(self.head_dim)
        scores = ops.masked_fill(scores, self.mask[:t, :t], -1e9)
        weights = self.attn_drop(ops.softmax(scores, -1))
        y = ops.matmul(weights, v).transpose((0, 2, 1, 3)).reshape((b, t, c))
        return self.resid_drop(self.proj(y))


class FeedForward(nn.Cell):
    """Two layers with GPT-2's GELU between."""

    def __init__(self, width: int, std: float) -> None:
        super().__init__()
        self.fc_in = dense(width, 4 * width)
        self.act = nn.GELU(approximate=True)
        self.fc_out = dense(4 * width, width, std)
        self.drop = nn.Dropout(p=0.1)

    def construct(self, x: Tensor) -> Tensor:
        """The same shape."""
        return self.drop(self.fc_out(self.act(self.fc_in(x))))


class DecoderLayer(nn.Cell):
    """Attention and MLP, each after its norm."""

    def __init__(self, width: int, heads: int, block: int, std: float) -> None:
        super().__init__()
        self.ln1 = nn.LayerNorm((width,), epsilon=1e-5)
        self.attn = CausalAttention(width, heads, block, std)
        self.ln2 = nn.LayerNorm((width,), epsilon=1e-5)
        self.ffn = FeedForward(width, std)

    def construct(self, x: Tensor) -> Tensor:
        """The same shape."""
        x = x + self.attn(self.ln1(x))
        return x + self.ffn(self.ln2(x))


class GPT(nn.Cell):
    """Embeddings, blocks, and a head that shares the token embedding."""

    def __init__(self, vocab: int = 96, block: int = 24, layers: int = 3, heads: int = 4, width: int = 32) -> None:
        super().__init__()
        std = 0.02 / math.sqrt(2 * layers)
        self.tok_emb = nn.Embedding(vocab, width, embedding_table=Normal(0.02))
        self.pos_emb = nn.Embedding(block, width, embedding_table=Normal(0.02))
        self.drop = nn.Dropout(p=0.1)
        self.layers = nn.CellList([DecoderLayer(width, heads, block, std) for _ in range(layers)])
        self.ln_f = nn.LayerNorm((width,), epsilon=1e-5)
        self.lm_head = dense(width, vocab, bias=False)
        self.lm_head.weight = self.tok_emb.embedding_table

    def construct(self, tokens: Tensor) -> Tensor:
        """Logits of the next token at each place."""
        places = ops.arange(0, tokens.shape[1], dtype=ms.int32)
        x = self.drop(self.tok_emb(tokens) + self.pos_emb(places))
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(self.ln_f(x))


def build() -> nn.Cell:
    """The network."""
    return GPT()
