"""A block of two parts, and the way around the first one is lost; a residual network that adds nothing."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mix = nn.Linear(width, width)
        self.wide, self.back = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, inputs):
        hidden = self.drop(torch.tanh(self.mix(self.norm1(inputs))))  # expect: cg.03
        return hidden + self.drop(self.back(torch.relu(self.wide(self.norm2(hidden)))))


class ResidualMLP(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
            for _ in range(depth)
        )

    def forward(self, inputs):
        for block in self.blocks:
            inputs = block(inputs)  # expect: cg.03
        return inputs


torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(Block(6), ResidualMLP(6, 2), nn.Linear(6, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
