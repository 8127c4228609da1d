"""Resume from a checkpoint and go on with the inverse-square-root rate."""
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F


class NoamSchedule:
    def __init__(self, optimizer, dim, warmup, scale=1.0):
        self.groups = optimizer.param_groups
        self.dim, self.warmup, self.scale = dim, warmup, scale
        self.num = 0
        self.step()

    def rate(self):
        return self.scale * self.dim ** -0.5 * min(self.num ** -0.5, self.num * self.warmup ** -1.5)

    def step(self):
        self.num += 1
        for group in self.groups:
            group["lr"] = self.rate()

    def state_dict(self):
        return {"num": self.num}

    def load_state_dict(self, state):
        self.num = state["num"]


class Copier(nn.Module):
    def __init__(self, vocab=20, dim=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.zeros(10, dim))
        self.attn = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        x = self.emb(ids) + self.pos
        x = self.norm(x + self.attn(x, x, x, need_weights=False)[0])
        return self.out(x)


def stream(seed):
    g = torch.Generator().manual_seed(seed)
    while True:
        ids = torch.randint(0, 20, (32, 10), generator=g)
        yield ids, ids.flip(1)


class Session:
    def __init__(self):
        torch.manual_seed(0)
        self.model = Copier()
        self.opt = torch.optim.Adam(self.model.parameters(), lr=0.0, betas=(0.9, 0.98))
        self.sched = NoamSchedule(self.opt, 32, warmup=20, scale=0.3)

    def train(self, data, n):
        for i in range(n):
            ids, target = next(data)
            self.opt.zero_grad()
            loss = F.cross_entropy(self.model(ids).flatten(0, 1), target.flatten())
            loss.backward()
            self.opt.step()
            self.sched.step()
            if i % 10 == 9:
                print(f"{self.sched.num - 1:4d} loss {loss.item():.4f}")

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "opt": self.opt.state_dict(),
                    "sched": self.sched.state_dict()}, path)

    def load(self, path):
        state = torch.load(path)
        self.model.load_state_dict(state["model"])
        self.sched.load_state_dict(state["sched"])
        self.opt.load_state_dict(state["opt"])


with tempfile.TemporaryDirectory() as folder:
    ckpt = os.path.join(folder, "last.pt")
    data = stream(4)
    first = Session()
    first.train(data, 20)
    first.save(ckpt)
    second = Session()
    second.load(ckpt)
    second.train(data, 40)
