"""Correct predictions are divided by batches times the batch size."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

BATCH = 32
torch.manual_seed(1)
x = torch.randn(170, 4)
y = (x.sum(1) > 0).long()
train = DataLoader(TensorDataset(x[:96], y[:96]), batch_size=BATCH, shuffle=True)
test = DataLoader(TensorDataset(x[96:], y[96:]), batch_size=BATCH)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

for _ in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
    net.eval()
    correct = 0
    with torch.no_grad():
        for inputs, labels in test:
            correct += (net(inputs).argmax(dim=1) == labels).sum().item()
    print("accuracy", correct / (len(test) * BATCH))  # expect: tr.12
