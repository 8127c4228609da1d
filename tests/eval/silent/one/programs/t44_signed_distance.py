"""Signed distance to a sphere with 1-Lipschitz layers."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import spectral_norm
from torch.utils.data import DataLoader, TensorDataset


class LipschitzMLP(nn.Module):
    def __init__(self, n_in=6, width=40):
        super().__init__()
        self.layers = nn.ModuleList([
            spectral_norm(nn.Linear(n_in, width), n_power_iterations=30),
            spectral_norm(nn.Linear(width, width), n_power_iterations=30),
            spectral_norm(nn.Linear(width, 1), n_power_iterations=30),
        ])

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = F.elu(layer(x))
        return self.layers[-1](x).squeeze(-1)


def spheres(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 6, generator=g)
    return TensorDataset(x, x.norm(dim=1) - 2.4)


@torch.no_grad()
def report(model, loader, tag):
    model.eval()
    total, count = 0.0, 0
    for x, y in loader:
        total += F.mse_loss(model(x), y, reduction="sum").item()
        count += len(y)
    model.train()
    print(f"{tag}: mse {total / count:.4f}")


def main():
    torch.manual_seed(0)
    model = LipschitzMLP()
    train = DataLoader(spheres(480, 3), batch_size=32, shuffle=True)
    test = DataLoader(spheres(128, 2), batch_size=64)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    with torch.no_grad():
        model(next(iter(test))[0])
    report(model, test, "untrained")
    for epoch in range(5):
        losses = []
        for x, y in train:
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} train {sum(losses) / len(losses):.4f}")
        report(model, test, f"epoch {epoch} test")


if __name__ == "__main__":
    main()
