"""Gradient accumulation for a small regressor."""
import contextlib
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Config:
    accum_steps = 2
    batch_size = 8
    epochs = 1
    lr = 0.02
    width = 40


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.fc1 = nn.Linear(width, 2 * width)
        self.fc2 = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.fc2(torch.nn.functional.gelu(self.fc1(self.norm(x))))


def build_model(cfg):
    return nn.Sequential(nn.Linear(10, cfg.width), Residual(cfg.width), Residual(cfg.width), nn.Linear(cfg.width, 1))


def build_data():
    g = torch.Generator().manual_seed(1)
    x = torch.randn(256, 10, generator=g)
    w = torch.randn(10, 1, generator=g)
    return TensorDataset(x, torch.sin(x @ w) + 0.1 * torch.randn(256, 1, generator=g))


class Accumulator:
    def __init__(self, model, every):
        self.model, self.every = model, every
        self.count = 0

    @property
    def sync_gradients(self):
        return self.count % self.every == 0

    @contextlib.contextmanager
    def accumulate(self):
        ctx = contextlib.nullcontext() if self.sync_gradients else self.model.no_sync()
        with ctx:
            yield
        self.count += 1


def train(cfg):
    rank = int(os.environ["RANK"])
    torch.manual_seed(42)
    model = DistributedDataParallel(build_model(cfg))
    data = build_data()
    sampler = DistributedSampler(data, seed=9)
    loader = DataLoader(data, cfg.batch_size, sampler=sampler)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    acc = Accumulator(model, cfg.accum_steps)
    for epoch in range(cfg.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            with acc.accumulate():
                loss = nn.functional.mse_loss(model(x), y) / cfg.accum_steps
                loss.backward()
            if acc.count % cfg.accum_steps == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                opt.zero_grad(set_to_none=True)
                if rank == 0:
                    print(f"update {acc.count // cfg.accum_steps} loss {loss.item() * cfg.accum_steps:.4f}")


if __name__ == "__main__":
    dist.init_process_group(backend="gloo")
    try:
        train(Config())
    finally:
        dist.barrier()
        time.sleep(0.3)
        dist.destroy_process_group()
