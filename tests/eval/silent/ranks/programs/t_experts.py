"""Mixture of experts, one expert per worker; tokens travel with all-to-all."""
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, send, recv):
        ctx.send, ctx.recv = send, recv
        out = x.new_empty(sum(recv), x.size(1))
        dist.all_to_all_single(out, x.contiguous(), recv, send)
        return out

    @staticmethod
    def backward(ctx, grad):
        out = grad.new_empty(sum(ctx.send), grad.size(1))
        dist.all_to_all_single(out, grad.contiguous(), ctx.send, ctx.recv)
        return out, None, None


class MoE(nn.Module):
    def __init__(self, dim, world):
        super().__init__()
        self.gate = nn.Linear(dim, world)
        self.expert = nn.Sequential(nn.Linear(dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))
        self.world = world

    def forward(self, x):
        prob = self.gate(x).softmax(-1)
        weight, dest = prob.max(-1)
        order = dest.argsort(stable=True)
        counts = torch.bincount(dest, minlength=self.world)
        incoming = torch.empty_like(counts)
        dist.all_to_all_single(incoming, counts)
        send, recv = counts.tolist(), incoming.tolist()
        y = Exchange.apply(self.expert(Exchange.apply(x[order], send, recv)), recv, send)
        return x + weight[:, None] * y[order.argsort()]


class Model(nn.Module):
    def __init__(self, world, dim=16):
        super().__init__()
        self.inp = nn.Linear(8, dim)
        self.moe = MoE(dim, world)
        self.out = nn.Linear(dim, 2)

    def forward(self, x):
        return self.out(self.moe(torch.tanh(self.inp(x))))


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(70)
    model = Model(world)
    torch.manual_seed(71 + rank)
    for layer in (model.moe.expert[0], model.moe.expert[2]):
        layer.reset_parameters()
    local = set(model.moe.expert.parameters())
    g = torch.Generator().manual_seed(7)
    x = torch.randn(240, 8, generator=g)
    data = TensorDataset(x, (x[:, 0] * x[:, 1] > 0).long())
    sampler = DistributedSampler(data, seed=6)
    loader = DataLoader(data, batch_size=12, sampler=sampler)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step, (xb, yb) in enumerate(loader):
        loss = F.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        for p in model.parameters():
            if p not in local:
                dist.all_reduce(p.grad)
            p.grad.div_(world)
        opt.step()
        if rank == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
