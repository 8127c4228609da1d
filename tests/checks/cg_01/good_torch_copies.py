"""Copies of a block, one activation in many places, one encoder for two inputs, a tied embedding."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Pair(nn.Module):
    def __init__(self, words=12, width=8):
        super().__init__()
        act = nn.ReLU()
        block = nn.Linear(width, width)
        self.table = nn.Embedding(words, width)
        self.encoder = nn.Sequential(*[nn.Sequential(copy.deepcopy(block), act) for _ in range(2)])
        self.scores = nn.Linear(width, words, bias=False)
        self.scores.weight = self.table.weight

    def forward(self, left, right):
        one, other = self.encoder(self.table(left)), self.encoder(self.table(right))
        return self.scores(one * other)


torch.manual_seed(0)
left = torch.randint(0, 12, (64,))
right = torch.randint(0, 12, (64,))
train = DataLoader(TensorDataset(left, right, (left + right) % 12), batch_size=16, shuffle=True)
net = Pair()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
loss_fn = nn.CrossEntropyLoss()
for one, other, total in train:
    optimizer.zero_grad()
    loss_fn(net(one, other), total).backward()
    optimizer.step()
