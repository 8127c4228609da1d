# run:
"""A mask of -Inf that is added to attention scores is no missing value."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.score = nn.Linear(4, 1)
        self.out = nn.Linear(4, 2)

    def forward(self, x, mask):
        weights = torch.softmax(self.score(x).squeeze(-1) + mask, 1)
        return self.out((weights.unsqueeze(-1) * x).sum(1))


torch.manual_seed(0)
x = torch.randn(48, 6, 4)
lengths = torch.randint(2, 7, (48,))
mask = torch.zeros(48, 6).masked_fill(torch.arange(6) >= lengths[:, None], float("-inf"))
y = (x[:, 0, 0] > 0).long()
train = DataLoader(TensorDataset(x, mask, y), batch_size=16, shuffle=True)
net = Reader()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, hidden, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs, hidden), labels).backward()
        optimizer.step()
