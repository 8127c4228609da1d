"""Grey values are cast for the network, and not divided."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Drawings(Dataset):
    def __init__(self, count):
        draw = np.random.default_rng(0)
        self.labels = draw.integers(0, 2, count)
        self.images = [np.clip(60 + 90 * k + draw.normal(0, 20, (8, 8)), 0, 255).astype(np.uint8) for k in self.labels]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        picture = torch.from_numpy(self.images[index]).float()  # expect: dp.01
        return picture.unsqueeze(0), int(self.labels[index])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.head = nn.Linear(144, 2)

    def forward(self, x):
        return self.head(torch.relu(self.conv(x)).flatten(1))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()
for pictures, labels in DataLoader(Drawings(64), batch_size=16, shuffle=True):
    optimizer.zero_grad()
    loss_fn(net(pictures), labels).backward()
    optimizer.step()
