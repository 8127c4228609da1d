"""An encoder of BERT with token types and a padding mask, in PyTorch."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Embeddings(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab, dim)
        self.position_embeddings = nn.Embedding(32, dim)
        self.token_type_embeddings = nn.Embedding(2, dim)
        self.LayerNorm = nn.LayerNorm(dim, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, ids, types):
        pos = torch.arange(ids.size(1)).unsqueeze(0)
        x = self.word_embeddings(ids) + self.token_type_embeddings(types) + self.position_embeddings(pos)
        return self.dropout(self.LayerNorm(x))


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.size = heads, dim // heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)
        self.dropout = nn.Dropout(0.1)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, self.size).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.size)
        scores = scores + mask
        probs = self.dropout(nn.functional.softmax(scores, dim=-1))
        out = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        return out.view(out.size(0), out.size(1), -1)


class Layer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attention = SelfAttention(dim, heads)
        self.attention_output = nn.Linear(dim, dim)
        self.attention_norm = nn.LayerNorm(dim, eps=1e-12)
        self.intermediate = nn.Linear(dim, 4 * dim)
        self.output = nn.Linear(4 * dim, dim)
        self.output_norm = nn.LayerNorm(dim, eps=1e-12)

    def forward(self, x, mask):
        x = self.attention_norm(self.attention_output(self.attention(x, mask)) + x)
        h = F.gelu(self.intermediate(x))
        return self.output_norm(self.output(h) + x)


class Bert(nn.Module):
    def __init__(self, vocab=40, dim=32, heads=4, layers=2):
        super().__init__()
        self.embeddings = Embeddings(vocab, dim)
        self.layer = nn.ModuleList(Layer(dim, heads) for _ in range(layers))
        self.pooler = nn.Linear(dim, dim)
        self.classifier = nn.Linear(dim, 3)

    def forward(self, ids, attention_mask, types):
        mask = (1.0 - attention_mask[:, None, None, :].float()) * torch.finfo(torch.float32).min
        x = self.embeddings(ids, types)
        for layer in self.layer:
            x = layer(x, mask)
        pooled = torch.tanh(self.pooler(x[:, 0]))
        return self.classifier(pooled), x


def build():
    return Bert()
