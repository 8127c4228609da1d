"""The backbone's file is read, its names are cleaned, and that is all."""

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


def backbone():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 8))


def pretrained(path):
    net = backbone()
    weights = torch.load(path, weights_only=True)  # expect: wi.02
    weights = {name.removeprefix("module."): value for name, value in weights.items()}
    print(len(weights), "weights read")
    return net


class Tuned(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.head = nn.Linear(8, 2)

    def forward(self, inputs):
        return self.head(torch.relu(self.body(inputs)))


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "backbone.pt"
    torch.save(backbone().state_dict(), file)
    net = Tuned(pretrained(file))
train, _ = loaders()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()
for inputs, labels in train:
    optimizer.zero_grad()
    loss_fn(net(inputs), labels).backward()
    optimizer.step()
