"""Weights are sorted into two lists, and the optimizer gets one of them."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def groups(network, decay):
    decayed, plain = [], []
    for weight in network.parameters():
        (decayed if weight.ndim > 1 else plain).append(weight)
    return [{"params": decayed, "weight_decay": decay}]  # expect: cg.02


torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.AdamW(groups(net, 0.01), lr=1e-2)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
