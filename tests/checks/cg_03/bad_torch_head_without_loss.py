"""The second task's loss was left out of the sum: its head never learns."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TwoTasks(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 16), nn.ReLU())
        self.kind = nn.Linear(16, 2)
        self.size = nn.Linear(16, 1)

    def forward(self, inputs):
        hidden = self.trunk(inputs)
        return self.kind(hidden), self.size(hidden).squeeze(1)  # expect: cg.03


torch.manual_seed(0)
x = torch.randn(64, 6)
train = DataLoader(TensorDataset(x, (x[:, 0] > 0).long(), x[:, 1].abs()), batch_size=16, shuffle=True)
net = TwoTasks()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(2):
    for inputs, kinds, sizes in train:
        logits, guessed = net(inputs)
        first = F.cross_entropy(logits, kinds)
        second = F.l1_loss(guessed, sizes)
        optimizer.zero_grad()
        first.backward()
        optimizer.step()
    print(epoch, first.item(), second.item())
