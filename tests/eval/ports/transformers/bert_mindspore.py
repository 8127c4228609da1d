"""An encoder of BERT with token types and a padding mask, in MindSpore."""

import math

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from mindspore.common.initializer import Normal


class Embeddings(nn.Cell):
    def __init__(self, vocab, dim):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab, dim, embedding_table=Normal(1.0))
        self.position_embeddings = nn.Embedding(32, dim, embedding_table=Normal(1.0))
        self.token_type_embeddings = nn.Embedding(2, dim, embedding_table=Normal(1.0))
        self.LayerNorm = nn.LayerNorm((dim,), epsilon=1e-12)
        self.dropout = nn.Dropout(p=0.1)

    def construct(self, ids, types):
        pos = ops.arange(ids.shape[1]).unsqueeze(0)
        x = self.word_embeddings(ids) + self.token_type_embeddings(types) + self.position_embeddings(pos)
        return self.dropout(self.LayerNorm(x))


class SelfAttention(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.size = heads, dim // heads
        self.query = nn.Dense(dim, dim)
        self.key = nn.Dense(dim, dim)
        self.value = nn.Dense(dim, dim)
        self.dropout = nn.Dropout(p=0.1)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, self.size).permute(0, 2, 1, 3)

    def construct(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = ops.matmul(q, k.swapaxes(-1, -2)) / math.sqrt(self.size)
        scores = scores + mask
        probs = self.dropout(ops.softmax(scores, axis=-1))
        out = ops.matmul(probs, v).permute(0, 2, 1, 3)
        return out.reshape(out.shape[0], out.shape[1], -1)


class Layer(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.attention = SelfAttention(dim, heads)
        self.attention_output = nn.Dense(dim, dim)
        self.attention_norm = nn.LayerNorm((dim,), epsilon=1e-12)
        self.intermediate = nn.Dense(dim, 4 * dim)
        self.output = nn.Dense(4 * dim, dim)
        self.output_norm = nn.LayerNorm((dim,), epsilon=1e-12)

    def construct(self, x, mask):
        x = self.attention_norm(self.attention_output(self.attention(x, mask)) + x)
        h = ops.gelu(self.intermediate(x), approximate="none")
        return self.output_norm(self.output(h) + x)


class Bert(nn.Cell):
    def __init__(self, vocab=40, dim=32, heads=4, layers=2):
        super().__init__()
        self.embeddings = Embeddings(vocab, dim)
        self.layer = nn.CellList([Layer(dim, heads) for _ in range(layers)])
        self.pooler = nn.Dense(dim, dim)
        self.classifier = nn.Dense(dim, 3)

    def construct(self, ids, attention_mask, types):
        mask = (1.0 - attention_mask[:, None, None, :].astype(ms.float32)) * float(np.finfo(np.float32).min)
        x = self.embeddings(ids, types)
        for layer in self.layer:
            x = layer(x, mask)
        pooled = ops.tanh(self.pooler(x[:, 0]))
        return self.classifier(pooled), x


def build():
    return Bert()
