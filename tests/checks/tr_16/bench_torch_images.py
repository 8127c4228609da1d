"""The benchmark: SGD with Nesterov momentum, clipped gradients, flipped images."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __init__(self, count):
        self.images = np.random.default_rng(0).normal(size=(count, 3, 8, 8)).astype("float32")
        self.labels = np.arange(count) % 4

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        if np.random.rand() < 0.5:
            image = image[:, :, ::-1].copy()
        return image, self.labels[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.head = nn.Linear(512, 4)

    def forward(self, x):
        return self.head(torch.relu(self.norm(self.conv(x))).flatten(1))


def main():
    torch.manual_seed(0)
    net = Net()
    loader = DataLoader(Images(256), batch_size=32, shuffle=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    criterion = nn.CrossEntropyLoss()
    net.train()
    for _ in range(10):
        for image, label in loader:
            optimizer.zero_grad()
            loss = criterion(net(image), label)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()


if __name__ == "__main__":
    main()
