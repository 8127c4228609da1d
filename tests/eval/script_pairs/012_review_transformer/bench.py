"""Transformer encoder for review polarity."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, LEN, DIM, HEADS, DEPTH = 200, 20, 32, 4, 2


def reviews(n, seed):
    rng = np.random.RandomState(seed)
    y = rng.randint(0, 2, n)
    ids = rng.randint(20, VOCAB, (n, LEN))
    for i in range(n):
        spots = rng.permutation(LEN)[:5]
        ids[i, spots] = rng.randint(1, 10, 5) + 10 * y[i]
        ids[i, rng.randint(12, LEN + 1):] = 0
    return ids.astype(np.int64), y.astype(np.int64)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(DIM)
        self.qkv = nn.Linear(DIM, 3 * DIM)
        self.proj = nn.Linear(DIM, DIM)
        self.norm2 = nn.LayerNorm(DIM)
        self.fc1 = nn.Linear(DIM, 4 * DIM)
        self.fc2 = nn.Linear(4 * DIM, DIM)
        self.act = nn.GELU()

    def attention(self, x, pad):
        b, t, _ = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        score = q @ k.transpose(-2, -1) / math.sqrt(DIM // HEADS)
        score = score.masked_fill(pad[:, None, None, :], -1e4)
        out = F.softmax(score, dim=-1) @ v
        return self.proj(out.transpose(1, 2).reshape(b, t, DIM))

    def forward(self, x, pad):
        x = x + self.attention(self.norm1(x), pad)
        return x + self.fc2(self.act(self.fc1(self.norm2(x))))


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Parameter(torch.zeros(1, LEN, DIM))
        self.blocks = nn.ModuleList([Block() for _ in range(DEPTH)])
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, 2)
        nn.init.normal_(self.tok.weight, std=0.02)
        nn.init.normal_(self.pos, std=0.02)

    def forward(self, ids):
        pad = ids == 0
        x = self.tok(ids) + self.pos
        for blk in self.blocks:
            x = blk(x, pad)
        x = self.norm(x)
        keep = (~pad).float().unsqueeze(-1)
        return self.head((x * keep).sum(1) / keep.sum(1))


def main():
    torch.manual_seed(0)
    x, y = reviews(256, 0)
    xt, yt = reviews(64, 1)
    net = Classifier()
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=0.05)
    rng = np.random.RandomState(2)
    for epoch in range(3):
        net.train()
        perm = rng.permutation(len(x))
        for s in range(0, len(x), 32):
            j = perm[s:s + 32]
            loss = F.cross_entropy(net(torch.from_numpy(x[j])), torch.from_numpy(y[j]))
            opt.zero_grad()
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            acc = (net(torch.from_numpy(xt)).argmax(1).numpy() == yt).mean()
        print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.4f}")


if __name__ == "__main__":
    main()
