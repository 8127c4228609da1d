"""A stream over files that asks for its worker and then goes through all files in each of them."""

import random
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __init__(self, folder):
        self.files = sorted(Path(folder).glob("*.npz"))

    def __iter__(self):
        info = get_worker_info()
        own, workers = (info.id, info.num_workers) if info else (0, 1)  # noqa: RUF059
        files = list(self.files)  # expect: dp.05
        random.shuffle(files)
        for file in files:
            part = np.load(file)
            for x, y in zip(part["x"], part["y"], strict=True):
                yield torch.from_numpy(x), int(y)


train = DataLoader(Stream("shards"), batch_size=16, num_workers=4)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
