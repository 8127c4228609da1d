"""K-fold cross-validation: a fresh network, optimizer and schedule per fold."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Subset, TensorDataset


def init_weights(module):
    if isinstance(module, nn.Linear):
        nn.init.kaiming_normal_(module.weight, nonlinearity="relu")
        nn.init.zeros_(module.bias)


def table(n=300):
    g = torch.Generator().manual_seed(77)
    x = torch.randn(n, 5, generator=g)
    y = (x[:, 0] * x[:, 1] + x[:, 2]).unsqueeze(1)
    return TensorDataset(x, y)


class CrossValidator:
    def __init__(self, dataset, folds=3, epochs=4):
        self.dataset, self.folds, self.epochs = dataset, folds, epochs
        self.net = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))
        self.loss = nn.MSELoss()

    def split(self, k):
        chunks = torch.arange(len(self.dataset)).chunk(self.folds)
        held = chunks[k].tolist()
        rest = torch.cat([c for i, c in enumerate(chunks) if i != k]).tolist()
        return Subset(self.dataset, rest), Subset(self.dataset, held)

    def run_fold(self, k):
        self.net.apply(init_weights)
        optimizer = torch.optim.Adam(self.net.parameters(), lr=8e-3)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
        train, held = self.split(k)
        for epoch in range(self.epochs):
            self.net.train()
            total = 0.0
            loader = DataLoader(train, batch_size=25, shuffle=True)
            for x, y in loader:
                optimizer.zero_grad()
                loss = self.loss(self.net(x), y)
                loss.backward()
                optimizer.step()
                total += loss.item()
            schedule.step()
            print(f"fold {k} epoch {epoch} loss {total / len(loader):.4f}")
        self.net.eval()
        with torch.no_grad():
            x, y = next(iter(DataLoader(held, batch_size=len(held))))
            return self.loss(self.net(x), y).item()

    def run(self):
        scores = [self.run_fold(k) for k in range(self.folds)]
        print("held-out", [round(s, 3) for s in scores])


torch.manual_seed(0)
CrossValidator(table()).run()
