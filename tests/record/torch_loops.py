"""Small torch trainings in the usual styles, for the recorder to watch."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, width, 3, padding=1)
        self.bn = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.fc = nn.Linear(width * 64, 10)

    def forward(self, x: Any) -> Any:
        return self.fc(self.relu(self.bn(self.conv(x))).flatten(1))


def dataset(size: int = 32) -> TensorDataset:
    draw = torch.Generator().manual_seed(1)
    return TensorDataset(torch.randn(size, 1, 8, 8, generator=draw), torch.randint(0, 10, (size,), generator=draw))


def loader(size: int = 32, batch: int = 8, **options: Any) -> DataLoader:
    return DataLoader(dataset(size), batch_size=batch, **options)


def train_plainly(epochs: int = 1, clip: float | None = None) -> list[float]:
    torch.manual_seed(0)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    seen = []
    for _ in range(epochs):
        model.train()
        for x, y in loader(shuffle=True):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            if clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            seen.append(loss.item())
        scheduler.step()
    return seen
