"""The network that was ported."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.norm = nn.LayerNorm(32)
        self.drop = nn.Dropout(0.2)
        self.act = nn.LeakyReLU()
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        x = self.pool(self.act(self.stem(x))).flatten(1)
        return self.head(self.drop(self.norm(x)))


torch.manual_seed(0)
x = torch.randn(48, 1, 8, 8)
y = torch.arange(48) % 3
net = Net()
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(2):
    for part in torch.randperm(48).split(16):
        optimizer.zero_grad()
        loss_fn(net(x[part]), y[part]).backward()
        optimizer.step()
