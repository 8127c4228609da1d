"""The network ends in a log_softmax over the samples."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.first = nn.Linear(6, width)
        self.last = nn.Linear(width, 3)

    def forward(self, inputs):
        hidden = F.relu(self.first(inputs))
        return F.log_softmax(self.last(hidden), dim=0)  # expect: tr.11


torch.manual_seed(0)
x = torch.randn(96, 6)
y = x[:, :3].argmax(1)
train = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(2):
    for inputs, labels in train:
        loss = F.nll_loss(net(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
