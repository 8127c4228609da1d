"""Will the customer leave? Synthetic table, small MLP.

The run is cut in two on purpose: the second half starts from the file the first one left,
which is how the job behaves on the preemptible queue.
"""

import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from trainer import TrainConfig, Trainer


class ChurnNet(nn.Module):
    def __init__(self, n_features: int, hidden: int = 32):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_features, hidden), nn.LayerNorm(hidden), nn.GELU(), nn.Dropout(0.1), nn.Linear(hidden, hidden)
        )
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.head(torch.tanh(self.body(x))).squeeze(-1)


def make_table(n: int, generator: torch.Generator):
    tenure = torch.rand(n, generator=generator) * 72
    monthly = 20 + torch.rand(n, generator=generator) * 100
    calls = torch.poisson(torch.full((n,), 2.0), generator=generator)
    noise = torch.randn(n, 3, generator=generator)
    x = torch.cat([torch.stack([tenure, monthly, calls], dim=1), noise], dim=1)
    score = (36 - tenure) / 12 + (monthly - 70) / 25 + (calls - 2) * 0.9
    y = (score + torch.randn(n, generator=generator) * 0.7 > 0).float()
    return x, y


def main():
    cfg = TrainConfig()
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    x_tr, y_tr = make_table(900, gen)
    x_va, y_va = make_table(300, gen)
    loc, scale = x_tr.mean(0), x_tr.std(0)
    train_loader = DataLoader(
        TensorDataset((x_tr - loc) / scale, y_tr), batch_size=cfg.batch_size, shuffle=True, drop_last=False
    )
    val_loader = DataLoader(TensorDataset((x_va - loc) / scale, y_va), batch_size=256)

    with tempfile.TemporaryDirectory() as tmp:
        first = Trainer(ChurnNet(x_tr.shape[1]), cfg, Path(tmp))
        first.fit(train_loader, val_loader, until=2)

        second = Trainer(ChurnNet(x_tr.shape[1]), cfg, Path(tmp))
        second.resume()
        print(f"resumed at epoch {second.epoch}")
        second.fit(train_loader, val_loader)
        second.restore_best()
        print("best model: loss %.4f, accuracy %.3f" % second.evaluate(val_loader))


if __name__ == "__main__":
    main()
