"""Fraud detection on a made-up card log (about one fraud in sixteen).

Training batches are drawn balanced, the validation part keeps the natural rate.
"""

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, Subset, WeightedRandomSampler


class CardLog(Dataset):
    columns = ("log_amount", "hour_sin", "hour_cos", "distance", "n_last_day", "age_of_card")

    def __init__(self, n=2400, rate=1 / 16, seed=42):
        rng = np.random.RandomState(seed)
        fraud = rng.rand(n) < rate
        hour = np.where(fraud, rng.normal(3, 2.5, n), rng.normal(14, 4, n))
        self.x = np.column_stack(
            [
                rng.normal(3.2, 1.0, n) + 1.2 * fraud,
                np.sin(hour / 12 * np.pi),
                np.cos(hour / 12 * np.pi),
                rng.gamma(2.0, 1.0, n) + 1.8 * fraud,
                rng.poisson(2 + 3 * fraud),
                rng.gamma(3.0, 1.0, n),
            ]
        ).astype(np.float32)
        self.y = fraud.astype(np.float32)
        self.offset = np.zeros(self.x.shape[1], np.float32)
        self.scale = np.ones(self.x.shape[1], np.float32)

    def fit_scaler(self, indices):
        self.offset = self.x[indices].mean(axis=0)
        self.scale = self.x[indices].std(axis=0)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return torch.from_numpy((self.x[i] - self.offset) / self.scale), torch.tensor(self.y[i])


def average_precision(scores, target):
    order = torch.argsort(scores, descending=True)
    hit = target[order]
    precision = hit.cumsum(0) / torch.arange(1, len(hit) + 1)
    return (precision * hit).sum().item() / hit.sum().item()


def build_loaders(batch_size=64):
    log = CardLog()
    idx = torch.randperm(len(log)).tolist()
    train_idx, val_idx = idx[:1800], idx[1800:]
    log.fit_scaler(train_idx)

    y = torch.from_numpy(log.y[train_idx]).long()
    per_class = torch.bincount(y, minlength=2)
    sampler = WeightedRandomSampler(weights=(1.0 / per_class)[y], num_samples=len(y), replacement=True)
    # shuffle must stay off here, the sampler does the drawing
    train = DataLoader(Subset(log, train_idx), batch_size=batch_size, sampler=sampler, shuffle=False)
    val = DataLoader(Subset(log, val_idx), batch_size=200)
    return train, val, per_class


def main():
    torch.manual_seed(42)
    train, val, per_class = build_loaders()
    print("legit / fraud in the training part:", per_class.tolist())

    model = nn.Sequential(nn.Linear(6, 32), nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 1), nn.Flatten(0))
    bce = nn.BCEWithLogitsLoss()
    opt = torch.optim.AdamW(model.parameters(), lr=1.5e-3, weight_decay=0.0)

    for epoch in range(1, 4):
        model.train()
        losses = []
        for features, is_fraud in train:
            opt.zero_grad()
            loss = bce(model(features), is_fraud)
            loss.backward()
            opt.step()
            losses.append(loss.detach())  # for the log only

        model.eval()
        scores, target = [], []
        with torch.no_grad():
            for features, is_fraud in val:
                scores.append(model(features))
                target.append(is_fraud)
        scores, target = torch.cat(scores), torch.cat(target)
        print(
            f"epoch {epoch}  batch loss {torch.stack(losses).mean():.4f}  "
            f"val bce {bce(scores, target):.4f}  val AP {average_precision(torch.sigmoid(scores), target):.3f}"
        )


if __name__ == "__main__":
    main()
