"""Music genre classification, reworked: one Experiment class, tensors prepared once."""
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

GENRES = ["rock", "jazz", "classical", "hiphop", "folk", "electro"]


def read_tracks(n, seed):
    rng = np.random.RandomState(seed)
    centre = np.random.RandomState(70).standard_normal((len(GENRES), 26))
    rows = []
    for _ in range(n):
        g = rng.randint(len(GENRES))
        rows.append((GENRES[g], centre[g] * 12 + 10 * rng.standard_normal(26) + 30))
    return rows


@dataclass
class Settings:
    batch_size: int = 64
    epochs: int = 8
    lr: float = 5e-3
    dropout: float = 0.2


class Experiment:
    def __init__(self, settings):
        self.s = settings
        torch.manual_seed(33)
        train_rows, test_rows = read_tracks(150, 0), read_tracks(60, 1)
        feats = np.stack([f for _, f in train_rows])
        self.mean, self.std = feats.mean(axis=0), feats.std(axis=0)
        self.train_set = self.tensors(train_rows)
        self.test_set = self.tensors(test_rows)
        self.model = nn.Sequential(
            nn.Linear(26, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Dropout(settings.dropout),
            nn.Linear(40, len(GENRES)),
        )
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=settings.lr, betas=(0.9, 0.999), eps=1e-8)

    def tensors(self, rows):
        lookup = {}
        labels = [lookup.setdefault(name, len(lookup)) for name, _ in rows]
        x = (np.stack([f for _, f in rows]) - self.mean) / self.std
        return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(labels))

    def train(self):
        loader = DataLoader(self.train_set, batch_size=self.s.batch_size, shuffle=True, drop_last=True)
        for epoch in range(self.s.epochs):
            self.model.train()
            for x, y in loader:
                loss = F.cross_entropy(self.model(x), y)
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.optimizer.step()
            print("epoch", epoch, "loss", f"{loss.item():.4f}", "test acc", f"{self.test():.4f}")

    @torch.no_grad()
    def test(self):
        self.model.eval()
        x, y = self.test_set.tensors
        return (self.model(x).argmax(dim=-1) == y).float().mean().item()


if __name__ == "__main__":
    Experiment(Settings()).train()
