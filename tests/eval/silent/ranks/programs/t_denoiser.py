"""Toy denoising diffusion on 2-D points."""
import math
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

T = 64


class Moons(Dataset):
    def __init__(self, n=384):
        g = torch.Generator().manual_seed(0)
        a = torch.rand(n, generator=g) * math.pi
        side = torch.arange(n) % 2
        x = torch.where(side == 0, torch.cos(a), 1 - torch.cos(a))
        y = torch.where(side == 0, torch.sin(a), 0.5 - torch.sin(a))
        self.points = torch.stack([x, y], 1) + 0.03 * torch.randn(n, 2, generator=g)

    def __len__(self):
        return len(self.points)

    def __getitem__(self, i):
        return self.points[i]


class Denoiser(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.time = nn.Embedding(T, width)
        self.inp = nn.Linear(2, width)
        self.mid = nn.Linear(width, width)
        self.out = nn.Linear(width, 2)

    def forward(self, x, t):
        h = torch.nn.functional.silu(self.inp(x) + self.time(t))
        return self.out(torch.nn.functional.silu(self.mid(h)))


class Schedule:
    def __init__(self, seed):
        beta = torch.linspace(1e-4, 0.05, T)
        self.abar = torch.cumprod(1 - beta, 0)
        self.gen = torch.Generator().manual_seed(seed)

    def corrupt(self, x0):
        t = torch.randint(0, T, (len(x0),), generator=self.gen)
        eps = torch.randn(x0.shape, generator=self.gen)
        a = self.abar[t][:, None]
        return a.sqrt() * x0 + (1 - a).sqrt() * eps, t, eps


def main(seed=99, epochs=2, batch=16):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(seed)
    model = DDP(Denoiser())
    schedule = Schedule(seed)
    data = Moons()
    sampler = DistributedSampler(data, seed=seed)
    loader = DataLoader(data, batch_size=batch, sampler=sampler)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x0 in loader:
            xt, t, eps = schedule.corrupt(x0)
            loss = (model(xt, t) - eps).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
