"""Tiny ViT; PyTorch."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

DIM, HEADS, DEPTH, PATCH, SIZE, CLASSES = 32, 4, 2, 4, 16, 6
EPOCHS, BATCH, BASE_LR, WARMUP = 2, 24, 1e-3, 5


def pictures(n, seed):
    rng = np.random.RandomState(seed)
    proto = np.random.RandomState(44).standard_normal((CLASSES, 3, SIZE, SIZE))
    y = rng.randint(0, CLASSES, n)
    return (proto[y] + rng.standard_normal((n, 3, SIZE, SIZE))).astype(np.float32), y.astype(np.int64)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(DIM, DIM * 3)
        self.proj = nn.Linear(DIM, DIM)
        self.scale = (DIM // HEADS) ** -0.5

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, HEADS, C // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = (q @ k.transpose(-2, -1) * self.scale).softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(DIM, eps=1e-6)
        self.attn = Attention()
        self.norm2 = nn.LayerNorm(DIM, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(DIM, DIM * 2), nn.GELU(), nn.Linear(DIM * 2, DIM))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class TinyViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, DIM, PATCH, PATCH)
        self.cls = nn.Parameter(torch.zeros(1, 1, DIM))
        self.pos = nn.Parameter(torch.zeros(1, (SIZE // PATCH) ** 2 + 1, DIM))
        self.blocks = nn.Sequential(*[Block() for _ in range(DEPTH)])
        self.norm = nn.LayerNorm(DIM, eps=1e-6)
        self.head = nn.Linear(DIM, CLASSES)
        nn.init.normal_(self.pos, std=0.02)
        nn.init.normal_(self.cls, std=0.02)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1) + self.pos
        return self.head(self.norm(self.blocks(x))[:, 0])


def lr_factor(step, total):
    if step < WARMUP:
        return (step + 1) / WARMUP
    return 0.5 * (1 + math.cos(math.pi * (step - WARMUP) / (total - WARMUP)))


def main():
    torch.manual_seed(3)
    x, y = pictures(240, 0)
    xt, yt = pictures(60, 1)
    net = TinyViT()
    opt = torch.optim.AdamW(net.parameters(), lr=BASE_LR, weight_decay=0.05)
    total = EPOCHS * (len(x) // BATCH)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: lr_factor(s, total))
    rng = np.random.RandomState(1)
    for epoch in range(EPOCHS):
        net.train()
        perm = rng.permutation(len(x))
        for i in range(0, len(x), BATCH):
            j = perm[i:i + BATCH]
            loss = F.cross_entropy(net(torch.from_numpy(x[j])), torch.from_numpy(y[j]), label_smoothing=0.1)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
        net.eval()
        with torch.no_grad():
            acc = (net(torch.from_numpy(xt)).argmax(-1).numpy() == yt).mean()
        print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.4f}")


if __name__ == "__main__":
    main()
