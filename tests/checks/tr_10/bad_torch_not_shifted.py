"""The network is asked for the very steps that it is given."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
series = torch.randn(64, 17, 4).cumsum(1) / 8
train = DataLoader(TensorDataset(series), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loss_fn = nn.MSELoss()
for epoch in range(2):
    for (steps,) in train:
        inputs, targets = steps[:, :-1], steps[:, :-1]  # expect: tr.10
        loss = loss_fn(net(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
