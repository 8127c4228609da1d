"""Tabular classifier; the table has holes that nobody looked at."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Table(Dataset):
    def __init__(self, rows=60, columns=7, seed=1):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(rows, columns)).astype(np.float32)
        self.y = rng.integers(0, 2, rows)
        self.x[25, 3] = np.nan
        self.x[51, 0] = np.nan

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy(self.x[i]), int(self.y[i])


class MLP(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.fc1 = nn.Linear(columns, 24)
        self.fc2 = nn.Linear(24, 24)
        self.fc3 = nn.Linear(24, 2)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


def main():
    torch.manual_seed(0)
    loader = DataLoader(Table(), batch_size=6)
    model = MLP(7)
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for step, (x, y) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
