# run: dp.01
"""One column in tens of thousands, another in parts of one."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
income = 20000 + 30000 * torch.rand(64, 1)
share = torch.rand(64, 5)
table = torch.cat([income, share], 1)
y = (share[:, 0] > 0.5).long()
train = DataLoader(TensorDataset(table, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.001)
loss_fn = nn.CrossEntropyLoss()
for _ in range(1):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
