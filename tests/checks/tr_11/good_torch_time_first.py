"""Time stands first where the softmax runs over it."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(64, 5, 6)
y = (x[:, 0, 0] > 0).long()
train = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.ask, self.know, self.tell = nn.Linear(6, 8), nn.Linear(6, 8), nn.Linear(6, 8)
        self.out = nn.Linear(8, 2)

    def forward(self, steps):
        inner = self.tell(steps).transpose(0, 1)
        weights = F.softmax(self.ask(steps).transpose(0, 1).sum(2, keepdim=True), dim=0)
        return self.out((weights * inner + self.know(steps).transpose(0, 1)).sum(dim=0))


net = Reader()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(2):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
