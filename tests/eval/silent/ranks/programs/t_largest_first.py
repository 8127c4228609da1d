"""Autoencoder; gradients are reduced one tensor at a time, big ones first."""
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class AutoEncoder(nn.Module):
    def __init__(self, dim=24, depth=3):
        super().__init__()
        self.enc = nn.ModuleList(nn.Linear(dim, dim, bias=False) for _ in range(depth))
        self.dec = nn.ModuleList(nn.Linear(dim, dim, bias=False) for _ in range(depth))
        self.scale = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        for layer in self.enc:
            x = torch.tanh(layer(x))
        x = x * self.scale
        for layer in self.dec[:-1]:
            x = torch.tanh(layer(x))
        return self.dec[-1](x)


def reduce_gradients(named, world):
    order = sorted(named, key=lambda item: (-item[1].numel(), -float(item[1].grad.norm())))
    for name, p in order:
        dist.all_reduce(p.grad)
        p.grad /= world
    return [name for name, _ in order]


def broadcast_parameters(module):
    with torch.no_grad():
        for t in list(module.parameters()) + list(module.buffers()):
            dist.broadcast(t, 0)


def main(steps=10):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(100)
    net = AutoEncoder()
    broadcast_parameters(net)
    x = torch.randn(steps * 16, 24, generator=torch.Generator().manual_seed(4))
    x = x @ torch.randn(24, 24, generator=torch.Generator().manual_seed(6)) * 0.3
    ds = TensorDataset(x)
    sampler = DistributedSampler(ds, num_replicas=world, rank=rank, shuffle=True, seed=3)
    loader = DataLoader(ds, batch_size=8, sampler=sampler)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    named = list(net.named_parameters())
    start = time.time()
    for step, (batch,) in enumerate(loader):
        optimizer.zero_grad()
        loss = (net(batch) - batch).pow(2).mean()
        loss.backward()
        order = reduce_gradients(named, world)
        optimizer.step()
        if rank == 0:
            print(f"step {step} loss {loss.item():.5f} first {order[0]} t {time.time() - start:.2f}s", flush=True)
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
