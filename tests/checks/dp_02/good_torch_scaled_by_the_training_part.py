"""Every part of a series is scaled with the statistics of the training part."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Ett(Dataset):
    def __init__(self, flag, scale=True, seq=24, pred=8):
        raw = np.cumsum(np.random.default_rng(0).normal(size=(2000, 7)), 0)
        b1 = {"train": 0, "val": 1200 - seq}[flag]
        b2 = {"train": 1200, "val": 1600}[flag]
        if scale:
            part = raw[0:1200]
            self.mean, self.std = part.mean(0), part.std(0)
            data = (raw - self.mean) / self.std
        else:
            data = raw
        self.x = data[b1:b2].astype(np.float32)
        self.seq, self.pred, self.flag = seq, pred, flag

    def __len__(self):
        return len(self.x) - self.seq - self.pred + 1

    def __getitem__(self, i):
        s, e = i, i + self.seq
        return self.x[s:e], self.x[e : e + self.pred]


def loader(flag):
    train = flag == "train"
    return DataLoader(Ett(flag), 32 if train else 1, shuffle=train, drop_last=train)


net = nn.Sequential(nn.Flatten(), nn.Linear(24 * 7, 64), nn.ReLU(), nn.Linear(64, 8 * 7))
opt = torch.optim.Adam(net.parameters(), 1e-3)
tl, vl = loader("train"), loader("val")
for _ in range(2):
    net.train()
    for x, y in tl:
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y.flatten(1)).backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(sum(nn.functional.mse_loss(net(x), y.flatten(1)).item() for x, y in vl) / len(vl))
