"""A checkpoint is put back whole; names that do not fit are looked at; the best weights are taken at the end."""

import copy
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def loaders(seed=0, size=16):
    torch.manual_seed(seed)
    x = torch.randn(96, 6)
    y = (x[:, 0] + x[:, 1] > 0).long()
    train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=size, shuffle=True)
    return train, DataLoader(TensorDataset(x[64:], y[64:]), batch_size=size)


def save(path, net, optimizer, epoch):
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, path)


def resume(path, net, optimizer):
    kept = torch.load(path, weights_only=True)
    missing, unexpected = net.load_state_dict(kept["net"], strict=False)
    if missing or unexpected:
        raise ValueError((missing, unexpected))
    optimizer.load_state_dict(kept["optimizer"])
    return kept["epoch"] + 1


train, test = loaders()
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "last.pt"
    save(file, net, optimizer, 0)
    start = resume(file, net, optimizer)
best, best_loss = copy.deepcopy(net.state_dict()), float("inf")
for _ in range(start, 3):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        loss = sum(loss_fn(net(inputs), labels).item() for inputs, labels in test)
    if loss < best_loss:
        best, best_loss = copy.deepcopy(net.state_dict()), loss
net.load_state_dict(best)
