"""A search for a rate works with a copy, or puts the weights back; stages with falling rates go on with one network."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def search(network, batches, loss_fn, low=1e-4, growth=1.5, steps=12):
    optimizer = torch.optim.SGD(network.parameters(), lr=low)
    best, found = float("inf"), low
    for step, (inputs, labels) in zip(range(steps), batches, strict=False):
        rate = low * growth**step
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        loss = loss_fn(network(inputs), labels)
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
kept = copy.deepcopy(net.state_dict())
rates = search(copy.deepcopy(net), loader, criterion), search(net, loader, criterion)
net.load_state_dict(kept)
for stage in range(2):
    optimizer = torch.optim.SGD(net.parameters(), lr=max(rates) * 0.1**stage)
    for inputs, labels in loader:
        optimizer.zero_grad()
        criterion(net(inputs), labels).backward()
        optimizer.step()
