"""Batches of a loader go into a recurrent layer that wants time first."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Forecaster(nn.Module):
    def __init__(self, hidden=12):
        super().__init__()
        self.project = nn.Linear(1, 4)
        self.rnn = nn.GRU(4, hidden)  # expect: api.01
        self.last = nn.Linear(hidden, 1)

    def forward(self, series):
        states, _ = self.rnn(torch.relu(self.project(series)))
        return self.last(states)


torch.manual_seed(0)
waves = torch.sin(torch.arange(20) * 0.3 + torch.rand(64, 1) * 6).unsqueeze(-1)
loader = DataLoader(TensorDataset(waves), batch_size=16, shuffle=True)
net = Forecaster()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
loss_fn = nn.MSELoss()
for _ in range(2):
    for (series,) in loader:
        optimizer.zero_grad()
        loss_fn(net(series[:, :-1]), series[:, 1:]).backward()
        optimizer.step()
