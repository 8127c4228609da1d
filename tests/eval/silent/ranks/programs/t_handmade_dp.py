#!/usr/bin/env python
"""Data-parallel MLP without a wrapper: gradients are averaged by hand."""
import random
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def seed_everything(seed, rank=0):
    random.seed(seed + rank)
    np.random.seed(seed + rank)
    torch.manual_seed(seed + rank)


def make_loader(rank, world, batch_size=10):
    rng = np.random.RandomState(0)
    x = rng.randn(240, 12).astype("float32")
    y = (x[:, :3].sum(1, keepdims=True) ** 2).astype("float32")
    ds = TensorDataset(torch.from_numpy(x), torch.from_numpy(y))
    sampler = DistributedSampler(ds, num_replicas=world, rank=rank, seed=17)
    return DataLoader(ds, batch_size=batch_size, sampler=sampler), sampler


def make_model():
    return nn.Sequential(
        nn.Linear(12, 48),
        nn.SiLU(),
        nn.Dropout(0.1),
        nn.Linear(48, 48),
        nn.SiLU(),
        nn.Linear(48, 1),
    )


@torch.no_grad()
def average_gradients(model, world):
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    flat = torch._utils._flatten_dense_tensors(grads)
    dist.all_reduce(flat, op=dist.ReduceOp.SUM)
    flat.div_(world)
    for g, r in zip(grads, torch._utils._unflatten_dense_tensors(flat, grads)):
        g.copy_(r)


def train():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    seed_everything(2021, rank)
    model = make_model()
    loader, sampler = make_loader(rank, world)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        running = torch.zeros(2)
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.smooth_l1_loss(model(x), y)
            loss.backward()
            average_gradients(model, world)
            optimizer.step()
            running += torch.tensor([loss.item() * len(x), len(x)])
        dist.all_reduce(running)
        scheduler.step()
        if rank == 0:
            print(f"epoch {epoch}: {running[0] / running[1]:.4f}")
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    train()
