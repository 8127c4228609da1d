"""BERT's port to MindSpore."""

from __future__ import annotations

import math

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal

VOCAB, LENGTH, DIM, HEADS = 40, 16, 32, 4


def dense(inp: int, out: int) -> nn.Dense:
    return nn.Dense(inp, out, weight_init=Normal(0.02), bias_init="zeros")


class Embeddings(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.word = nn.Embedding(VOCAB, DIM, embedding_table=Normal(0.02))
        self.position = nn.Embedding(LENGTH, DIM, embedding_table=Normal(0.02))
        self.layer_norm = nn.LayerNorm((DIM,), epsilon=1e-12)
        self.dropout = nn.Dropout(p=0.1)

    def construct(self, tokens: Tensor) -> Tensor:
        places = ops.arange(tokens.shape[1])
        x = self.word(tokens) + self.position(places)
        return self.dropout(self.layer_norm(x))


class SelfAttention(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.query = dense(DIM, DIM)
        self.key = dense(DIM, DIM)
        self.value = dense(DIM, DIM)
        self.dense = dense(DIM, DIM)

    def heads(self, x: Tensor) -> Tensor:
        return ops.transpose(ops.reshape(x, (*x.shape[:2], HEADS, DIM // HEADS)), (0, 2, 1, 3))

    def construct(self, x: Tensor, mask: Tensor) -> Tensor:
        q, k, v = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) / math.sqrt(DIM // HEADS)
        scores = scores + mask
        weights = ops.softmax(scores, axis=-1)
        context = ops.transpose(ops.matmul(weights, v), (0, 2, 1, 3))
        return self.dense(ops.reshape(context, x.shape))


class Layer(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.attention = SelfAttention()
        self.layer_norm1 = nn.LayerNorm((DIM,), epsilon=1e-12)
        self.intermediate = dense(DIM, 2 * DIM)
        self.gelu = nn.GELU(approximate=False)
        self.output = dense(2 * DIM, DIM)
        self.layer_norm2 = nn.LayerNorm((DIM,), epsilon=1e-12)
        self.dropout = nn.Dropout(p=0.1)

    def construct(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.layer_norm1(x + self.dropout(self.attention(x, mask)))
        out = self.output(self.gelu(self.intermediate(x)))
        return self.layer_norm2(x + self.dropout(out))


class Bert(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.embeddings = Embeddings()
        self.layers = nn.CellList([Layer() for _ in range(2)])
        self.pooler = nn.Dense(DIM, DIM, weight_init=Normal(0.02), bias_init="zeros", activation="tanh")
        self.classifier = dense(DIM, 2)
        self.transform = dense(DIM, DIM)
        self.layer_norm = nn.LayerNorm((DIM,), epsilon=1e-12)
        self.decoder = dense(DIM, VOCAB)
        self.decoder.weight = self.embeddings.word.embedding_table

    def construct(self, tokens: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        mask = (1.0 - ops.cast(seen[:, None, None, :], ms.float32)) * -10000.0
        x = self.embeddings(tokens)
        for layer in self.layers:
            x = layer(x, mask)
        words = self.transform(x)
        words = self.decoder(self.layer_norm(ops.gelu(words, approximate="none")))
        first = x[:, 0]
        return words, self.classifier(self.pooler(first))


def build() -> nn.Cell:
    return Bert()
