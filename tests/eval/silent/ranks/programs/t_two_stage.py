"""Two-stage pipeline: stage 0 embeds, stage 1 classifies; micro-batched."""
import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

HIDDEN, CLASSES, MICRO, NUM_MICRO = 512, 10, 64, 4


def dataset():
    g = torch.Generator().manual_seed(31)
    x = torch.randn(NUM_MICRO * MICRO * 6, 32, generator=g)
    y = (x[:, :CLASSES].argmax(dim=1))
    return TensorDataset(x, y)


class Front(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(32, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN))

    def forward(self, x):
        return self.net(x)


class Back(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES))

    def forward(self, h):
        return self.net(h)


class FrontStage:
    def __init__(self):
        self.model = Front()
        self.outbox = torch.empty(MICRO, HIDDEN)

    def run(self, x, y):
        outs, works = [], []
        for xm in x.chunk(NUM_MICRO):
            h = self.model(xm)
            self.outbox.copy_(h.detach())
            works.append(dist.isend(self.outbox, dst=1))
            outs.append(h)
        for work in works:
            work.wait()
        for h in outs:
            grad = torch.empty_like(h)
            dist.recv(grad, src=1)
            h.backward(grad)
        return None


class BackStage:
    def __init__(self):
        self.model = Back()

    def run(self, x, y):
        total, grads = 0.0, []
        for ym in y.chunk(NUM_MICRO):
            h = torch.empty(MICRO, HIDDEN)
            dist.recv(h, src=0)
            h.requires_grad_(True)
            loss = F.cross_entropy(self.model(h), ym) / NUM_MICRO
            loss.backward()
            grads.append(h.grad)
            total += loss.item()
        for g in grads:
            dist.send(g, dst=0)
        return total


def main():
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    torch.manual_seed(50 + rank)
    stage = FrontStage() if rank == 0 else BackStage()
    opt = torch.optim.SGD(stage.model.parameters(), lr=0.1)
    loader = DataLoader(dataset(), batch_size=MICRO * NUM_MICRO, shuffle=False)
    for step, (x, y) in enumerate(loader):
        opt.zero_grad()
        loss = stage.run(x, y)
        opt.step()
        if rank == 1:
            print(f"step {step} loss {loss:.4f}", flush=True)
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
