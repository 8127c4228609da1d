"""Very gentle warm-up for a pre-norm network (rates from 1e-9 upwards)."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, SequentialLR
from torch.utils.data import DataLoader, TensorDataset


class PreNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, 2 * dim)
        self.down = nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Net(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.inp = nn.Linear(7, dim)
        self.blocks = nn.Sequential(*[PreNorm(dim) for _ in range(2)])
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, 2)

    def forward(self, x):
        return self.out(self.norm(self.blocks(self.inp(x))))


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(16)
    x = torch.randn(384, 7, generator=g)
    y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    model = Net()
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
    warm, total = 12, 6 * len(loader)

    def rise(step):
        return min(1.0, 10.0 ** (-6.5 * (1 - step / warm)))

    sched = SequentialLR(opt, [LambdaLR(opt, rise), CosineAnnealingLR(opt, total - warm)], [warm])
    for epoch in range(6):
        running = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            running += loss.item()
        print(f"epoch {epoch} loss {running / len(loader):.4f} lr {sched.get_last_lr()[0]:.2e}")


main()
