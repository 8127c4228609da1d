# run: tr.19
"""Each sample is weighted by what all samples lack."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 6)
y = x.sum(1, keepdim=True) + 0.1 * torch.randn(96, 1)
train = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)

net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(3):
    for inputs, targets in train:
        optimizer.zero_grad()
        answers = net(inputs).squeeze(1)
        surprise = (answers.detach().unsqueeze(1) - targets).abs().mean(1, keepdim=True)
        loss = ((1 + surprise) * (answers - targets.squeeze(1)).pow(2)).mean()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
