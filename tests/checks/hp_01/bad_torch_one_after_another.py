# run: hp.01
"""The second training goes on with a rate that moves nothing."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(64, 6)
train = DataLoader(TensorDataset(x, x @ torch.randn(6, 1)), batch_size=16, shuffle=True)


def fit(net, lr):
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    for _ in range(3):
        for inputs, targets in train:
            optimizer.zero_grad()
            nn.functional.mse_loss(net(inputs), targets).backward()
            optimizer.step()


net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
fit(net, 1e-2)
fit(net, 1e-9)  # expect: hp.01
