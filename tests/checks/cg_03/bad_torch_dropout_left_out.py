"""A dropout is built and left out of forward; so is the activation between two layers."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.first = nn.Linear(6, width)
        self.act = nn.GELU()  # expect: cg.03
        self.drop = nn.Dropout(0.2)  # expect: cg.03
        self.last = nn.Linear(width, 2)

    def forward(self, inputs):
        return self.last(self.first(inputs))


torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
