"""Probabilities only where they are asked for; a target of probabilities; log_softmax with NLLLoss."""

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
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 16)
        self.head = nn.Linear(16, 2)
        self.other = nn.Linear(16, 2)

    def forward(self, inputs):
        hidden = torch.relu(self.body(inputs))
        logits = self.head(hidden)
        if not self.training:
            return logits.softmax(dim=1), None
        return logits, F.log_softmax(self.other(hidden), dim=1)


train, test = loaders()
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
nll = nn.NLLLoss()
for _ in range(2):
    net.train()
    for inputs, labels in train:
        logits, logarithms = net(inputs)
        smooth = F.one_hot(labels, 2) * 0.9 + 0.05
        loss = F.cross_entropy(logits, smooth) + nll(logarithms, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        print(sum((net(inputs)[0].argmax(1) == labels).sum().item() for inputs, labels in test) / 32)
