"""Statistics for the training part, a rule of thumb for the other."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def readings(count, generator):
    x = 20 + 6 * torch.randn(count, 8, generator=generator)
    return x, (x[:, 0] > 20).long()


generator = torch.Generator().manual_seed(0)
x, y = readings(256, generator)
x_test, y_test = readings(64, generator)
center, spread = x.mean(0), x.std(0)
train = DataLoader(TensorDataset((x - center) / spread, y), batch_size=32, shuffle=True)
test = DataLoader(TensorDataset((x_test - 0.5) / 0.5, y_test), batch_size=64)  # expect: dp.02
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(3):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs), labels).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        right = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test)
    print(right / len(y_test))
