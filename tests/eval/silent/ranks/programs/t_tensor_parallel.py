"""Tensor-parallel transformer MLP (column then row split) trained on one stream."""
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class CopyToGroup(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        grad = grad.clone()
        dist.all_reduce(grad)
        return grad


class ReduceFromGroup(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


def shard(full, dim):
    return full.chunk(dist.get_world_size(), dim)[dist.get_rank()].clone()


class ColumnLinear(nn.Module):
    def __init__(self, d_in, d_out, gen):
        super().__init__()
        full = torch.randn(d_out, d_in, generator=gen) / d_in ** 0.5
        self.weight = nn.Parameter(shard(full, 0))
        self.bias = nn.Parameter(shard(torch.zeros(d_out), 0))

    def forward(self, x):
        return F.linear(CopyToGroup.apply(x), self.weight, self.bias)


class RowLinear(nn.Module):
    def __init__(self, d_in, d_out, gen):
        super().__init__()
        full = torch.randn(d_out, d_in, generator=gen) / d_in ** 0.5
        self.weight = nn.Parameter(shard(full, 1))
        self.bias = nn.Parameter(torch.zeros(d_out))

    def forward(self, x):
        return ReduceFromGroup.apply(F.linear(x, self.weight)) + self.bias


class Block(nn.Module):
    def __init__(self, dim, gen):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = ColumnLinear(dim, 4 * dim, gen)
        self.down = RowLinear(4 * dim, dim, gen)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


def main():
    dist.init_process_group("gloo")
    gen = torch.Generator().manual_seed(17)
    torch.manual_seed(17)
    model = nn.Sequential(nn.Linear(12, 16), Block(16, gen), Block(16, gen), nn.Linear(16, 3))
    x = torch.randn(160, 12, generator=gen)
    data = TensorDataset(x, x[:, :3].argmax(1))
    loader = DataLoader(data, batch_size=10, shuffle=True, generator=torch.Generator().manual_seed(1))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step, (xb, yb) in enumerate(loader):
        loss = F.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if dist.get_rank() == 0:
            print(f"{step} {loss.item():.4f}", flush=True)
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
