"""The source is turned round and filled up on the left, the target on the right: they are of different lengths."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pairs(Dataset):
    def __init__(self, n, width=10):
        r = np.random.default_rng(0)
        self.rows = []
        for _ in range(n):
            s = r.integers(3, 20, r.integers(3, 9))
            t = s[::-1].copy()
            x, yi, yo = np.zeros(width, np.int64), np.zeros(width, np.int64), np.zeros(width, np.int64)
            x[-len(s) :] = s[::-1]
            yi[0] = 1
            yi[1 : len(t) + 1] = t
            yo[: len(t)] = t
            self.rows.append((x, yi, yo))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class S2S(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(20, 16)
        self.enc, self.dec = nn.GRU(16, 16, batch_first=True), nn.GRU(16, 16, batch_first=True)
        self.o = nn.Linear(16, 20)

    def forward(self, x, y):
        _, h = self.enc(self.e(x))
        return self.o(self.dec(self.e(y), h)[0])


net, dl = S2S(), DataLoader(Pairs(128), 16, shuffle=True)
opt = torch.optim.Adam(net.parameters(), 1e-3)
crit = nn.CrossEntropyLoss(ignore_index=0)
for _ in range(2):
    for x, yi, yo in dl:
        opt.zero_grad()
        crit(net(x, yi).flatten(0, 1), yo.flatten()).backward()
        opt.step()
