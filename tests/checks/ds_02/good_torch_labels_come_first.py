"""Labels are shuffled before samples are drawn for them; later both are moved alike, and gaps are filled."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

rng = np.random.default_rng(0)
centers = rng.normal(size=(4, 6))
y = np.repeat(np.arange(4), 50)
rng.shuffle(y)
x = centers[y]
order = rng.permutation(len(y))
x[:100] = x[order[:100]]
y[:100] = y[order[:100]]
for i in range(1, len(y)):
    if y[i] < 0:
        y[i] = y[i - 1]
train = DataLoader(TensorDataset(torch.from_numpy(x).float(), torch.from_numpy(y)), batch_size=16, shuffle=True)
net = nn.Linear(6, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    for inputs, labels in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
