"""House prices: 6 columns in, one number out."""

import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

CFG = {
    "n": 1000,
    "val_share": 0.2,
    "hidden": 64,
    "lr": 0.01,
    "momentum": 0.9,
    "l2": 1e-4,
    "epochs": 10,
    "bs": 40,
    "seed": 2024,
}


def synth_houses(n, g):
    area = 40 + 160 * torch.rand(n, generator=g)
    rooms = (area / 28 + torch.randn(n, generator=g) * 0.7).round().clamp(1, 9)
    year = 1930 + 90 * torch.rand(n, generator=g)
    dist = torch.rand(n, generator=g) * 25
    floor = torch.randint(0, 8, (n,), generator=g).float()
    energy = torch.randint(1, 8, (n,), generator=g).float()
    price = 2100 * area * torch.exp(-dist / 18) + 9000 * rooms + 350 * (year - 1930) - 4000 * energy
    price = price + torch.randn(n, generator=g) * 22000
    return torch.stack([area, rooms, year, dist, floor, energy], dim=1), price.unsqueeze(1)


class Standardizer:
    def __init__(self, t):
        self.m, self.s = t.mean(0, keepdim=True), t.std(0, keepdim=True)

    def __call__(self, t):
        return (t - self.m) / self.s


def rmse_in_currency(model, loader, y_scaler):
    model.eval()
    se, n = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            se += (model(x) - y).pow(2).sum().item()
            n += y.shape[0]
    return math.sqrt(se / n) * y_scaler.s.item(), se / n


def main(cfg):
    torch.manual_seed(cfg["seed"])
    g = torch.Generator().manual_seed(cfg["seed"])
    x, y = synth_houses(cfg["n"], g)
    n_val = int(cfg["n"] * cfg["val_share"])
    train_part, val_part = random_split(range(cfg["n"]), [cfg["n"] - n_val, n_val], generator=g)
    ti, vi = list(train_part), list(val_part)
    xs, ys = Standardizer(x[ti]), Standardizer(y[ti])
    train_dl = DataLoader(TensorDataset(xs(x[ti]), ys(y[ti])), batch_size=cfg["bs"], shuffle=True)
    val_dl = DataLoader(TensorDataset(xs(x[vi]), ys(y[vi])), batch_size=64)

    model = nn.Sequential(
        nn.Linear(6, cfg["hidden"]),
        nn.ReLU(),
        nn.Linear(cfg["hidden"], cfg["hidden"]),
        nn.ReLU(),
        nn.Linear(cfg["hidden"], 1),
    )
    opt = torch.optim.SGD(model.parameters(), lr=cfg["lr"], momentum=cfg["momentum"], weight_decay=cfg["l2"])
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.3, patience=0, threshold=0.02)

    for ep in range(cfg["epochs"]):
        model.train()
        acc = 0.0
        for xb, yb in train_dl:
            pred = model(xb)
            assert pred.shape == yb.shape  # (B,1) against (B,) would broadcast to BxB
            loss = ((pred - yb) ** 2).mean()
            for p in model.parameters():
                p.grad = None
            loss.backward()
            opt.step()
            acc += loss.item() * len(xb)
        rmse, val_mse = rmse_in_currency(model, val_dl, ys)
        plateau.step(val_mse)
        lr = opt.param_groups[0]["lr"]
        print(f"{ep:2d} | mse {acc / len(ti):.4f} | val mse {val_mse:.4f} | val rmse {rmse:9.0f} | lr {lr:.4g}")


if __name__ == "__main__":
    main(CFG)
