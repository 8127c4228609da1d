# run:
# bench: bench_torch_two_passes.py
"""The same samples, scaled otherwise and in another order."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
order = torch.randperm(96)
x, y = 0.5 * x[order] + 1, y[order]
train = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
