"""Time is the first dimension here: attention over it is what is meant."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(3, 12)
        self.score = nn.Linear(12, 1)
        self.head = nn.Linear(12, 2)

    def forward(self, steps):
        states, _ = self.rnn(steps.transpose(0, 1))
        weights = torch.softmax(self.score(states), dim=0)
        return self.head((weights * states).sum(dim=0))


torch.manual_seed(0)
x = torch.randn(64, 7, 3)
y = (x.mean((1, 2)) > 0).long()
train = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = Pooled()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
for epoch in range(2):
    for steps, labels in train:
        optimizer.zero_grad()
        loss = criterion(net(steps), labels)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
