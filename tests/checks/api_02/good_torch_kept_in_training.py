"""Dropout is put back on for several answers, and a calibration looks at training mode before eval() is called."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)
net = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()

    net.eval()
    hits = 0
    with torch.no_grad():
        for inputs, labels in test:
            hits += (net(inputs).argmax(1) == labels).sum().item()
    net.eval()
    print(epoch, hits / len(test.dataset))

net.eval()
for layer in net.modules():
    if isinstance(layer, nn.Dropout):
        layer.train()
with torch.no_grad():
    answers = torch.stack([net(x[64:]).softmax(1) for _ in range(8)])
print(answers.std(0).mean())
