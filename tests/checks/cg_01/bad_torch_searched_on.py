"""The search for a rate is meant to work with a copy."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def search(network, batches, loss_fn, low=1e-4, growth=1.5, steps=12):
    probe = network  # expect: cg.01
    optimizer = torch.optim.SGD(probe.parameters(), lr=low)
    best, found = float("inf"), low
    for step, (inputs, labels) in zip(range(steps), batches, strict=False):
        rate = low * growth**step
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        loss = loss_fn(probe(inputs), labels)
        loss.backward()
        optimizer.step()
        if loss.item() < best:
            best, found = loss.item(), rate
    return found / 10


torch.manual_seed(0)
x = torch.randn(256, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=search(net, loader, criterion))
for _ in range(2):
    for inputs, labels in loader:
        optimizer.zero_grad()
        criterion(net(inputs), labels).backward()
        optimizer.step()
