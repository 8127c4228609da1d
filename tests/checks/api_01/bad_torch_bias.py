# port-of: bench_mindspore_small.py
"""torch's convolutions have a bias, MindSpore's have none."""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)  # expect: api.01
        self.act = nn.LeakyReLU(negative_slope=0.2)
        self.norm = nn.LayerNorm(288, eps=1e-7)
        self.head = nn.Linear(288, classes)

    def forward(self, x):
        return self.head(self.norm(self.act(self.conv(x)).flatten(1)))


torch.manual_seed(0)
x = torch.randn(48, 1, 8, 8)
y = torch.arange(48) % 3
net = Net(3)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(2):
    for part in torch.randperm(48).split(16):
        optimizer.zero_grad()
        loss_fn(net(x[part]), y[part]).backward()
        optimizer.step()
