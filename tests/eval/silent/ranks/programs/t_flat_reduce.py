"""Language model with hand-written bucketed gradient reduction."""
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

VOCAB = 2000


class LM(nn.Module):
    def __init__(self, dim=256):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.mix = nn.Linear(dim, dim)
        self.proj = nn.Linear(dim, VOCAB)

    def forward(self, ids):
        return self.proj(torch.tanh(self.mix(self.emb(ids))))


class GradReducer:
    def __init__(self, params, cap=400_000):
        self.world = dist.get_world_size()
        self.buckets, current, size = [], [], 0
        for p in params:
            if current and size + p.numel() > cap:
                self.buckets.append(current)
                current, size = [], 0
            current.append(p)
            size += p.numel()
        self.buckets.append(current)
        self.pending = []

    def _launch(self, bucket):
        flat = torch.cat([p.grad.reshape(-1) for p in bucket])
        work = dist.all_reduce(flat, op=dist.ReduceOp.SUM, async_op=True)
        self.pending.append(work)
        return flat

    def _unflatten(self, flat, bucket):
        offset = 0
        for p in bucket:
            n = p.numel()
            p.grad.copy_(flat[offset:offset + n].view_as(p)).div_(self.world)
            offset += n

    def reduce(self):
        for bucket in self.buckets:
            flat = self._launch(bucket)
            self._unflatten(flat, bucket)

    def drain(self):
        for work in self.pending:
            work.wait()
        self.pending.clear()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1234)
    model = LM()
    for p in model.parameters():
        dist.broadcast(p.data, src=0)
    g = torch.Generator().manual_seed(8)
    tokens = torch.randint(0, VOCAB, (192, 17), generator=g)
    data = TensorDataset(tokens[:, :-1], tokens[:, 1:])
    sampler = DistributedSampler(data, world, rank, seed=2)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    opt = torch.optim.SGD(model.parameters(), lr=0.5)
    reducer = GradReducer(list(model.parameters()))
    for step, (inp, tgt) in enumerate(loader):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(inp).flatten(0, 1), tgt.flatten())
        loss.backward()
        reducer.reduce()
        opt.step()
        reducer.drain()
        if rank == 0:
            print(f"{step:3d} {loss.item():.4f}", flush=True)
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
