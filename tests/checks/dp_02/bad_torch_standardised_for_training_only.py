"""One class for both parts, and the flag that is there for augmentation decides about the scale as well."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

MEAN, STD = 20.0, 6.0


class Readings(Dataset):
    def __init__(self, count, seed, train):
        generator = torch.Generator().manual_seed(seed)
        self.x = MEAN + STD * torch.randn(count, 8, generator=generator)
        self.y = (self.x[:, 0] > MEAN).long()
        self.train = train

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        x = self.x[index]
        if self.train:
            x = (x - MEAN) / STD  # expect: dp.02
            x = x + 0.1 * torch.randn(8)
        return x, self.y[index]


train = DataLoader(Readings(256, 0, train=True), batch_size=32, shuffle=True)
test = DataLoader(Readings(64, 1, train=False), batch_size=64)
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
    print(right / 64)
