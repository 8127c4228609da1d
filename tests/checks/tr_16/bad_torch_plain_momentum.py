# port-of: bench_torch_images.py
"""Momentum without Nesterov, in another form."""

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


class Experiment:
    """The same training in another form."""

    def __init__(self, rate, count):
        self.net = Net()
        self.criterion = nn.CrossEntropyLoss()
        self.loader = DataLoader(Images(count), shuffle=True, batch_size=32)
        self.optimizer = torch.optim.SGD(self.net.parameters(), rate, 0.9)  # expect: tr.16

    def train(self, epochs):
        self.net.train()
        for _ in range(epochs):
            for batch in self.loader:
                self.update(*batch)

    def update(self, image, label):
        loss = self.criterion(self.net(image), label)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), max_norm=1.0)
        self.optimizer.step()


if __name__ == "__main__":
    torch.manual_seed(0)
    Experiment(0.05, 256).train(10)
