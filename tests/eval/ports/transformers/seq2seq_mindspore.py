"""A GRU with additive attention, and a tagger, in MindSpore."""

import math

from mindspore import nn, ops
from mindspore.common.initializer import Normal


class Attn(nn.Cell):
    def __init__(self, dim):
        super().__init__()
        self.W1 = nn.Dense(dim, dim)
        self.W2 = nn.Dense(dim, dim)
        self.v = nn.Dense(dim, 1)

    def construct(self, query, keys):
        scores = self.v(ops.tanh(self.W1(query) + self.W2(keys)))
        scores = scores.squeeze(2).expand_dims(1)
        weights = ops.softmax(scores, axis=-1)
        return ops.bmm(weights, keys), weights


class Seq2Seq(nn.Cell):
    def __init__(self, vocab=30, dim=16):
        super().__init__()
        self.dim = dim
        self.src = nn.Embedding(vocab, dim, embedding_table=Normal(1.0))
        self.tgt = nn.Embedding(vocab, dim, embedding_table=Normal(1.0))
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.attn = Attn(dim)
        self.cell = nn.GRUCell(2 * dim, dim)
        self.tagger = nn.LSTM(dim, dim, num_layers=1, batch_first=True, bidirectional=True)
        self.out = nn.Dense(dim, vocab)
        self.tags = nn.Dense(2 * dim, 5)

    def construct(self, src, tgt):
        emb = self.src(src) * math.sqrt(self.dim)
        keys, hidden = self.encoder(emb)
        h = hidden[0]
        target = self.tgt(tgt)
        outs = []
        for i in range(tgt.shape[1]):
            context, _ = self.attn(h.expand_dims(1), keys)
            x = ops.cat((target[:, i], context.squeeze(1)), axis=1)
            h = self.cell(x, h)
            outs.append(self.out(ops.relu(h)))
        tags, _ = self.tagger(emb)
        return ops.log_softmax(ops.stack(outs, axis=1), axis=-1), self.tags(tags)


def build():
    return Seq2Seq()
