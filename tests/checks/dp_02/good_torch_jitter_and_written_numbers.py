"""Both parts go through the same numbers; only training also shifts and stretches by chance."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Readings(Dataset):
    def __init__(self, count, seed, train, center=None, spread=None):
        generator = torch.Generator().manual_seed(seed)
        self.x = torch.rand(count, 8, generator=generator)
        y = 40 * self.x.sum(1)
        self.center = y.mean() if center is None else center
        self.spread = y.std() if spread is None else spread
        self.y, self.train = y, train

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        x = self.x[index]
        if self.train:
            x = (x - 0.1 * torch.rand(1)) / (1 + 0.1 * torch.rand(1))
        return (x - 0.5) / 0.29, (self.y[index] - self.center) / self.spread


train_set = Readings(256, 0, train=True)
test_set = Readings(64, 1, train=False, center=train_set.center, spread=train_set.spread)
train = DataLoader(train_set, batch_size=32, shuffle=True)
test = DataLoader(test_set, batch_size=64)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(3):
    net.train()
    for inputs, targets in train:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(inputs).squeeze(1), targets).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        wrong = sum(((net(inputs).squeeze(1) - targets) ** 2).sum().item() for inputs, targets in test)
    print(wrong / len(test_set))
