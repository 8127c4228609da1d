"""mindspore.nn's own transformer layers: an encoder that predicts tokens, and an encoder with a decoder."""

from __future__ import annotations

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer

VOCAB, LENGTH, DIM = 40, 12, 16


class TokenModel(nn.Cell):
    def __init__(self, norm_first: bool = False) -> None:
        super().__init__()
        self.wte = nn.Embedding(VOCAB, DIM)
        self.wpe = nn.Embedding(LENGTH, DIM)
        layer = nn.TransformerEncoderLayer(
            DIM,
            4,
            dim_feedforward=32,
            dropout=0.1,
            activation="gelu",
            batch_first=True,
            norm_first=norm_first,
        )
        norm = nn.LayerNorm((DIM,), epsilon=1e-5) if norm_first else None
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, norm=norm)
        self.lm_head = nn.Dense(DIM, VOCAB, has_bias=False)

    def construct(self, tokens: Tensor) -> Tensor:
        positions = ops.arange(tokens.shape[1])
        return self.lm_head(self.encoder(self.wte(tokens) + self.wpe(positions)))


class Translator(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.src_embed = nn.Embedding(VOCAB, DIM)
        self.tgt_embed = nn.Embedding(VOCAB, DIM)
        self.pos = Parameter(initializer(Normal(0.02), (LENGTH, DIM), ms.float32))
        self.transformer = nn.Transformer(DIM, 4, 1, 1, dim_feedforward=32, dropout=0.1, batch_first=True)
        self.generator = nn.Dense(DIM, VOCAB)

    def construct(self, source: Tensor, target: Tensor) -> Tensor:
        source = self.src_embed(source) + self.pos[: source.shape[1]]
        target = self.tgt_embed(target) + self.pos[: target.shape[1]]
        return self.generator(self.transformer(source, target))


class CrossAttention(nn.Cell):
    """nn.MultiheadAttention by itself, with keys and values of another width."""

    def __init__(self) -> None:
        super().__init__()
        self.query_embed = Parameter(initializer(Normal(1.0), (1, 6, DIM), ms.float32))
        self.attn = nn.MultiheadAttention(DIM, 4, batch_first=True, kdim=8, vdim=8)
        self.ln = nn.LayerNorm((DIM,), epsilon=1e-5)
        self.proj = nn.Dense(DIM, 4)

    def construct(self, memory: Tensor) -> Tensor:
        query = ops.broadcast_to(self.query_embed, (memory.shape[0], 6, DIM))
        return self.proj(self.ln(query + self.attn(query, memory, memory)[0]))


def build() -> nn.Cell:
    """An encoder that normalises after each part; head without a bias, of the token embedding's shape."""
    return TokenModel()


def build_norm_first() -> nn.Cell:
    """An encoder that normalises before each part, with a last norm of its own."""
    return TokenModel(norm_first=True)


def build_translator() -> nn.Cell:
    """nn.Transformer: encoder and decoder."""
    return Translator()


def build_cross_attention() -> nn.Cell:
    """q_proj_weight, k_proj_weight and v_proj_weight in place of in_proj_weight."""
    return CrossAttention()
