"""Random crops for training, the centre for validation, the same numbers for both."""

import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

NUMBERS = transforms.Normalize((0.5,), (0.25,))
TRAIN = transforms.Compose([transforms.RandomCrop(12), transforms.ToTensor(), NUMBERS])
VALID = transforms.Compose([transforms.CenterCrop(12), transforms.ToTensor(), NUMBERS])

torch.manual_seed(0)
train = DataLoader(datasets.FakeData(64, (1, 16, 16), 4, transform=TRAIN), 16, shuffle=True)
valid = DataLoader(datasets.FakeData(32, (1, 16, 16), 4, transform=VALID, random_offset=64), 16)
net = nn.Sequential(nn.Flatten(), nn.Linear(144, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(2):
    net.train()
    for pictures, labels in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(pictures), labels).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        print(sum((net(pictures).argmax(1) == labels).sum().item() for pictures, labels in valid) / 32)
