"""The test part is standardised with its own mean and deviation."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def standardised(part):
    return (part - part.mean(0)) / part.std(0)


torch.manual_seed(0)
x = 5 + 3 * torch.randn(96, 6)
y = (x[:, 0] > 5).long()
train = DataLoader(TensorDataset(standardised(x[:64]), y[:64]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(standardised(x[64:]), y[64:]), batch_size=16)  # expect: dp.02
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        print(sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test) / 32)
