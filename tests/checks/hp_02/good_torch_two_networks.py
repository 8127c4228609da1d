# run:
"""A teacher that has settled, then a student that has just begun: the losses of both are not one curve."""

import torch
from torch import nn

torch.manual_seed(0)
x, held = torch.randn(64, 4), torch.randn(64, 4)
weight = torch.randn(4, 1)


def fit(net, epochs, lr):
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    for _ in range(epochs):
        net.train()
        for inputs in x[torch.randperm(64)].split(16):
            optimizer.zero_grad()
            nn.functional.mse_loss(net(inputs), inputs @ weight).backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            print(nn.functional.mse_loss(net(held), held @ weight).item())


fit(nn.Linear(4, 1), 20, 0.2)
fit(nn.Linear(4, 1), 2, 0.01)
