"""Head on a fixed BatchNorm backbone; later the last stage is let go as well."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Backbone(nn.Module):
    def __init__(self, frozen_stages=2, norm_eval=True):
        super().__init__()
        self.stages = nn.ModuleList([
            nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU()),
            nn.Sequential(nn.Linear(32, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.1)),
        ])
        self.frozen_stages = frozen_stages
        self.norm_eval = norm_eval
        self._freeze()

    def _freeze(self):
        for i, stage in enumerate(self.stages):
            on = i >= self.frozen_stages
            for p in stage.parameters():
                p.requires_grad = on
            if not on:
                stage.eval()

    def train(self, mode=True):
        super().train(mode)
        self._freeze()
        if mode and self.norm_eval:
            for m in self.modules():
                if isinstance(m, nn.BatchNorm1d):
                    m.eval()
        return self

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x


class Probe(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


def points(n=384):
    g = torch.Generator().manual_seed(51)
    x = torch.randn(n, 10, generator=g)
    return TensorDataset(x, (x[:, :3] + 0.5 * x[:, 3:6] ** 2).argmax(1))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def main():
    torch.manual_seed(0)
    model = Probe()
    loader = DataLoader(points(), batch_size=32, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.02)
    for epoch in range(7):
        if epoch == 4:
            model.backbone.frozen_stages = 1
        model.train()
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f} train acc {accuracy(model, loader):.3f}")


main()
