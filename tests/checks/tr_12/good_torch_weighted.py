"""Each batch counts as often as it has samples; the mean of losses in training is for the eye."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Mean:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, value, count):
        self.total += value * count
        self.count += count

    def value(self):
        return self.total / self.count


torch.manual_seed(2)
x = torch.randn(130, 5)
y = (x[:, 0] > 0).long()
train = DataLoader(TensorDataset(x[:80], y[:80]), batch_size=16, shuffle=True)
valid = DataLoader(TensorDataset(x[80:], y[80:]), batch_size=16)
net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(2):
    net.train()
    losses = []
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    net.eval()
    seen = Mean()
    with torch.no_grad():
        for inputs, labels in valid:
            seen.add((net(inputs).argmax(1) == labels).float().mean().item(), len(labels))
    print(sum(losses) / len(losses), seen.value())
