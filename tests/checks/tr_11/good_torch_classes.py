"""Classes are chosen over dimension 1, one sample by itself over dimension 0."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(96, 6)
y = x[:, :3].argmax(1)
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        F.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        hits = 0
        for inputs, labels in test:
            logits = net(inputs)
            hits += (logits.softmax(-1).argmax(1) == labels).sum().item()
            # How sure it is of the first sample, and which classes come up most in the batch.
            sure = logits[0].softmax(0).max(0).values.item()
            share = F.one_hot(logits.argmax(1), 3).float().mean(0)
    print(hits / 32, sure, share.tolist())
