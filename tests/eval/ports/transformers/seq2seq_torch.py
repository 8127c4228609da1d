"""A GRU with additive attention, and a tagger, in PyTorch."""

import math

import torch
from torch import nn


class Attn(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.W1 = nn.Linear(dim, dim)
        self.W2 = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, 1)

    def forward(self, query, keys):
        scores = self.v(torch.tanh(self.W1(query) + self.W2(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        weights = torch.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class Seq2Seq(nn.Module):
    def __init__(self, vocab=30, dim=16):
        super().__init__()
        self.dim = dim
        self.src = nn.Embedding(vocab, dim)
        self.tgt = nn.Embedding(vocab, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.attn = Attn(dim)
        self.cell = nn.GRUCell(2 * dim, dim)
        self.tagger = nn.LSTM(dim, dim, num_layers=1, batch_first=True, bidirectional=True)
        self.out = nn.Linear(dim, vocab)
        self.tags = nn.Linear(2 * dim, 5)

    def forward(self, src, tgt):
        emb = self.src(src) * math.sqrt(self.dim)
        keys, hidden = self.encoder(emb)
        h = hidden[0]
        target = self.tgt(tgt)
        outs = []
        for i in range(tgt.shape[1]):
            context, _ = self.attn(h.unsqueeze(1), keys)
            x = torch.cat((target[:, i], context.squeeze(1)), dim=1)
            h = self.cell(x, h)
            outs.append(self.out(torch.relu(h)))
        tags, _ = self.tagger(emb)
        return torch.log_softmax(torch.stack(outs, dim=1), dim=-1), self.tags(tags)


def build():
    return Seq2Seq()
