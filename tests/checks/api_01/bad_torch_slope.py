# port-of: bench_mindspore_small.py
"""A port to torch, with torch's defaults."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(48, 1, 8, 8)
y = torch.arange(48) % 3
net = nn.Sequential(
    nn.Conv2d(1, 8, 3, bias=False),
    nn.LeakyReLU(),  # expect: api.01
    nn.Flatten(),
    nn.LayerNorm(288),  # expect: api.01
    nn.Linear(288, 3),
)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(2):
    for part in torch.randperm(48).split(16):
        optimizer.zero_grad()
        loss_fn(net(x[part]), y[part]).backward()
        optimizer.step()
