"""Waves regression with checkpoint-and-return on divergence."""
import copy
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class WavesDataset(Dataset):
    def __init__(self, n=480, seed=5):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.rand(n, 3, generator=g) * 4 - 2
        self.y = torch.sin(self.x[:, :1] * 1.5) + 0.3 * self.x[:, 1:2] * self.x[:, 2:3]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def mlp(sizes):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), nn.SiLU()]
    layers.append(nn.Linear(sizes[-2], sizes[-1]))
    return nn.Sequential(*layers)


class RollbackTrainer:
    def __init__(self, model, lr=0.05, patience=1.05):
        self.model = model
        self.opt = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
        self.patience = patience
        self.best = math.inf
        self.snapshot = None
        self.rollbacks = 0

    def run_epoch(self, loader):
        self.model.train()
        total = 0.0
        for x, y in loader:
            loss = nn.functional.mse_loss(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total / len(loader)

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        errors = [nn.functional.mse_loss(self.model(x), y).item() for x, y in loader]
        return sum(errors) / len(errors)

    def fit(self, train, valid, epochs):
        for epoch in range(epochs):
            tr = self.run_epoch(train)
            va = self.validate(valid)
            if va < self.best:
                self.best = va
                self.snapshot = copy.deepcopy(self.model)
            elif va > self.patience * self.best:
                self.restore_best()
            print(f"epoch {epoch}: train {tr:.4f} valid {va:.4f} rollbacks {self.rollbacks}")

    def restore_best(self):
        self.model.load_state_dict(self.snapshot.state_dict())
        for group in self.opt.param_groups:
            group["lr"] *= 0.5
        self.opt.state.clear()
        self.rollbacks += 1


if __name__ == "__main__":
    torch.manual_seed(2)
    train = DataLoader(WavesDataset(), batch_size=32, shuffle=True)
    valid = DataLoader(WavesDataset(128, seed=6), batch_size=64)
    RollbackTrainer(mlp([3, 24, 24, 1]), lr=0.2).fit(train, valid, epochs=8)
