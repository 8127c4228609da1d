"""
python main.py                              one process
torchrun --nproc-per-node 2 main.py         two of them
"""

import tempfile
from pathlib import Path

import torch
import torch.nn as nn
from dist_utils import log, process_group, reduce_sum, world
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler, Subset

GLOBAL_BATCH = 32
EPOCHS = 3


class XorCubes(Dataset):
    """Parity of the signs of the first two coordinates, with four useless coordinates."""

    def __init__(self, n, seed):
        gen = torch.Generator().manual_seed(seed)
        self.x = torch.empty(n, 6).uniform_(-1.7, 1.7, generator=gen)
        self.y = ((self.x[:, 0] > 0) ^ (self.x[:, 1] > 0)).long()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(6, 64)
        self.norm = nn.LayerNorm(64)
        self.mid = nn.Linear(64, 64)
        self.out = nn.Linear(64, 2)
        self.act = nn.GELU()

    def forward(self, x):
        x = self.act(self.norm(self.inp(x)))
        return self.out(self.act(self.mid(x)))


def main():
    size, rank = world()
    torch.manual_seed(77)  # the same start on all ranks
    train_set, val_set = XorCubes(960, seed=1), XorCubes(257, seed=2)

    sampler = DistributedSampler(train_set, num_replicas=size, rank=rank, shuffle=True, seed=77)
    train_dl = DataLoader(train_set, batch_size=GLOBAL_BATCH // size, sampler=sampler)
    # no padding sampler for validation: it would count some samples twice
    mine = Subset(val_set, range(rank, len(val_set), size))
    val_dl = DataLoader(mine, batch_size=64)

    model = Net()
    if size > 1:
        model = DDP(model)
    named = list(model.named_parameters())
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for n, p in named if n.endswith("weight") and "norm" not in n]},
            {"params": [p for n, p in named if n.endswith("bias") or "norm" in n], "weight_decay": 0.0},
        ],
        lr=3e-3,
        weight_decay=1e-2,
    )
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.7)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        model.train()
        tr_sum = tr_n = 0
        for x, y in train_dl:
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            tr_sum += loss.item() * len(y)
            tr_n += len(y)
        scheduler.step()

        model.eval()
        va_sum = va_hit = va_n = 0
        with torch.no_grad():
            for x, y in val_dl:
                out = model(x)
                va_sum += criterion(out, y).item() * len(y)
                va_hit += (out.argmax(1) == y).sum().item()
                va_n += len(y)
        tr_sum, tr_n, va_sum, va_hit, va_n = reduce_sum(tr_sum, tr_n, va_sum, va_hit, va_n)
        log(f"epoch {epoch} train {tr_sum / tr_n:.4f} val {va_sum / va_n:.4f} acc {va_hit / va_n:.4f} (n={va_n:.0f})")

    if rank == 0:
        with tempfile.TemporaryDirectory() as tmp:
            core = model.module if isinstance(model, DDP) else model
            path = Path(tmp, "model.pt")
            torch.save(core.state_dict(), path)
            log(f"saved {path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    with process_group():
        main()
