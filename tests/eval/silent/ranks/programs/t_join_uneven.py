"""Shards of different length, one file list per worker."""
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset


class ShardFiles(Dataset):
    SIZES = {"a": 40, "b": 24, "c": 32, "d": 16, "e": 24}

    def __init__(self, names):
        rows = []
        for name in names:
            g = torch.Generator().manual_seed(ord(name))
            rows.append(torch.randn(self.SIZES[name], 9, generator=g))
        self.rows = torch.cat(rows)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i, :8], self.rows[i, 8:]


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 32), nn.ELU(), nn.Linear(32, 16), nn.ELU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.layers(x)


def assign(names, rank, world):
    return [n for i, n in enumerate(sorted(names)) if i % world == rank]


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DDP(Regressor())
    files = assign(ShardFiles.SIZES, rank, world)
    loader = DataLoader(ShardFiles(files), batch_size=8, shuffle=True,
                        generator=torch.Generator().manual_seed(rank))
    opt = torch.optim.SGD(model.parameters(), lr=0.02)
    for epoch in range(2):
        seen = 0
        with model.join():
            for x, y in loader:
                opt.zero_grad()
                loss = nn.functional.mse_loss(model(x), y)
                loss.backward()
                opt.step()
                seen += len(x)
        total = torch.tensor([seen])
        dist.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch}: {total.item()} rows, files {files}, loss {loss.item():.4f}")
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
