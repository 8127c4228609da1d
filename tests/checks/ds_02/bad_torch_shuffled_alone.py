"""The labels are shuffled in place, and the samples are not."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
data = np.load("readings.npz")
x, y = data["x"], data["y"]
rng.shuffle(y)  # expect: ds.02
train = DataLoader(TensorDataset(torch.from_numpy(x).float(), torch.from_numpy(y)), batch_size=16, shuffle=True)
net = nn.Linear(6, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    for inputs, labels in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
