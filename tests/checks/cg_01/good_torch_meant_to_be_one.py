"""One encoder for both inputs, one norm for both sides, and a head that takes weights and bias from another one."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Twins(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(3, width), nn.ReLU())
        self.norm = nn.LayerNorm(width)
        self.left = nn.Linear(width, 4)
        self.right = nn.Linear(width, 4)
        self.right.weight = self.left.weight
        self.right.bias = self.left.bias

    def forward(self, inputs):
        first = self.left(self.norm(self.encoder(inputs[:, :3])))
        second = self.right(self.norm(self.encoder(inputs[:, 3:])))
        return F.cosine_similarity(first, second)


torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x[:, 0] * x[:, 3] > 0).float()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = Twins()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    for inputs, labels in loader:
        optimizer.zero_grad()
        F.binary_cross_entropy_with_logits(net(inputs), labels).backward()
        optimizer.step()
