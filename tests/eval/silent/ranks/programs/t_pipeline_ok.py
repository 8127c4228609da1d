"""Two-stage pipeline with overlapping sends and a short last micro-batch."""
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

WIDTH, CLASSES, MICRO = 96, 6, 12


def pieces(t):
    return t.split(MICRO)


class Stage(nn.Module):
    def __init__(self, first):
        super().__init__()
        if first:
            self.net = nn.Sequential(nn.Linear(14, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH))
        else:
            self.net = nn.Sequential(nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, CLASSES))

    def forward(self, x):
        return self.net(x)


def run_first(stage, x):
    kept, works = [], []
    for xm in pieces(x):
        h = stage(xm)
        out = h.detach().contiguous()
        works.append((dist.isend(out, dst=1, tag=len(kept)), out))
        kept.append(h)
    grads = [torch.empty_like(h) for h in kept]
    recvs = [dist.irecv(g, src=1, tag=100 + i) for i, g in enumerate(grads)]
    for work, _ in works:
        work.wait()
    for h, g, r in zip(kept, grads, recvs):
        r.wait()
        h.backward(g)


def run_last(stage, y):
    total, sends = 0.0, []
    for i, ym in enumerate(pieces(y)):
        h = torch.empty(len(ym), WIDTH)
        dist.recv(h, src=0, tag=i)
        h.requires_grad_()
        loss = F.cross_entropy(stage(h), ym, reduction="sum") / len(y)
        loss.backward()
        sends.append((dist.isend(h.grad, dst=0, tag=100 + i), h))
        total += loss.item()
    for work, _ in sends:
        work.wait()
    return total


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    stage = Stage(first=rank == 0)
    g = torch.Generator().manual_seed(3)
    x = torch.randn(310, 14, generator=g)
    loader = DataLoader(TensorDataset(x, x[:, :CLASSES].argmax(1)), batch_size=31)
    opt = torch.optim.Adam(stage.parameters(), lr=2e-3)
    for step, (xb, yb) in enumerate(loader):
        opt.zero_grad()
        if rank == 0:
            run_first(stage, xb)
        else:
            loss = run_last(stage, yb)
            print(f"step {step} loss {loss:.4f}", flush=True)
        opt.step()
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
