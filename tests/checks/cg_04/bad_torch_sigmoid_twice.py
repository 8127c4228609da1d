# run: cg.04
"""A sigmoid stands before a loss that has its own."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
x = torch.randn(96, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())  # expect: cg.04
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels.float().unsqueeze(1))
        loss.backward()
        optimizer.step()

    net.eval()
    with torch.no_grad():
        hits = sum(((net(inputs) > 0.5) == labels.unsqueeze(1)).sum().item() for inputs, labels in test)
    print(epoch, hits / len(test.dataset))
