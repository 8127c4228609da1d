"""Parts that are reached by their names, by a setting, or only when the network is asked for more."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def loaders(seed=0, size=16):
    torch.manual_seed(seed)
    x = torch.randn(96, 6)
    y = (x[:, 0] + x[:, 1] > 0).long()
    train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=size, shuffle=True)
    return train, DataLoader(TensorDataset(x[64:], y[64:]), batch_size=size)


class Net(nn.Module):
    def __init__(self, depth=2, project=False):
        super().__init__()
        for at in range(depth):
            setattr(self, f"layer{at}", nn.Linear(6 if at == 0 else 16, 16))
        self.depth = depth
        self.project = nn.Linear(16, 16) if project else None
        self.score = nn.Linear(16, 1)
        self.head = nn.Linear(16, 2)

    def features(self, inputs):
        for at in range(self.depth):
            inputs = torch.relu(getattr(self, f"layer{at}")(inputs))
        if self.project is not None:
            inputs = self.project(inputs)
        return inputs

    def forward(self, inputs):
        features = self.features(inputs)
        weight = torch.sigmoid(self.score(features))
        return self.head(features * weight)


train, _ = loaders()
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for inputs, labels in train:
    optimizer.zero_grad()
    F.cross_entropy(net(inputs), labels).backward()
    optimizer.step()
