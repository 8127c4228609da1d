# run: dp.03
"""A sampler that goes through classes one after the other."""

import torch
from torch import nn
from torch.utils.data import DataLoader, SequentialSampler, TensorDataset

torch.manual_seed(0)
y = torch.arange(3).repeat_interleave(32)
x = torch.randn(96, 8) + y[:, None]
data = TensorDataset(x, y)
train = DataLoader(data, batch_size=16, sampler=SequentialSampler(data))  # expect: dp.03
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loss_fn = nn.CrossEntropyLoss()
for _ in range(1):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
