# run: ds.03
"""One positive for twenty negatives, and a loss that does not know."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = torch.cat([torch.zeros(100), torch.ones(5)])
x = torch.randn(105, 8) + y[:, None]
train = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loss_fn = nn.BCEWithLogitsLoss()
for _ in range(1):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs).squeeze(1), labels)
        loss.backward()
        optimizer.step()
