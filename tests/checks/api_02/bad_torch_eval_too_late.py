"""eval() stands behind the loop that evaluates."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()


def accuracy(network, loader):
    hits = 0
    with torch.no_grad():
        for inputs, labels in loader:
            hits += (network(inputs).argmax(1) == labels).sum().item()
    network.eval()  # expect: api.02
    return hits / len(loader.dataset)


for epoch in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
    print(epoch, accuracy(net, test))
