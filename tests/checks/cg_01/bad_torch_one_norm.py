"""Two norms are built alike, and the first one is called in both places."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, inputs):
        hidden = inputs + torch.relu(self.first(self.norm1(inputs)))
        return hidden + torch.relu(self.second(self.norm1(hidden)))  # expect: cg.01


torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(Block(6), nn.Linear(6, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
