"""The embedding keeps its rows as it grows, the output is built anew, and both are tied once more."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(nn.Module):
    def __init__(self, words=12, width=8):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.mixed = nn.Linear(width, width)
        self.head = nn.Linear(width, words, bias=False)
        self.tie()

    def tie(self):
        self.head.weight = self.embedding.weight

    def grow(self, words):
        old = self.embedding.weight.detach()
        rows = torch.cat([old, torch.randn(words - len(old), old.size(1)) * 0.1])
        self.embedding = nn.Embedding.from_pretrained(rows, freeze=False)
        head = nn.Linear(rows.size(1), words, bias=False)
        head.weight.data.copy_(rows)
        self.head = head
        self.tie()

    def forward(self, tokens):
        return self.head(torch.relu(self.mixed(self.embedding(tokens))))


torch.manual_seed(0)
tokens = (torch.randint(0, 12, (64, 1)) + torch.arange(7)) % 12
train = DataLoader(TensorDataset(tokens[:, :-1], tokens[:, 1:]), batch_size=16, shuffle=True)
net = Model()
net.grow(14)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for inputs, targets in train:
    optimizer.zero_grad()
    F.cross_entropy(net(inputs).flatten(0, 1), targets.flatten()).backward()
    optimizer.step()
