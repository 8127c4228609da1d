"""Distillation of a teacher into a smaller student, data-parallel."""
import dataclasses
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


@dataclasses.dataclass
class Config:
    seed: int = 7
    n: int = 128
    batch: int = 16
    epochs: int = 2
    lr: float = 0.05
    tau: float = 2.0


def mlp(width):
    return nn.Sequential(nn.Linear(20, width), nn.Tanh(), nn.Dropout(0.05), nn.Linear(width, 5))


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(cfg.seed)
        self.teacher = mlp(128).eval().requires_grad_(False)
        self.student = DDP(mlp(24))
        self.local_seed = cfg.seed + self.rank
        torch.manual_seed(self.local_seed)
        self.loader, self.sampler = self.build_loader()
        self.opt = torch.optim.SGD(self.student.parameters(), lr=cfg.lr)

    def build_loader(self):
        x = torch.randn(self.cfg.n, 20, generator=torch.Generator().manual_seed(self.cfg.seed))
        data = TensorDataset(x, torch.arange(self.cfg.n))
        sampler = DistributedSampler(data, self.world, self.rank, shuffle=True, seed=self.local_seed)
        return DataLoader(data, batch_size=self.cfg.batch, sampler=sampler), sampler

    def loss(self, x):
        with torch.no_grad():
            target = F.softmax(self.teacher(x) / self.cfg.tau, dim=-1)
        logp = F.log_softmax(self.student(x) / self.cfg.tau, dim=-1)
        return F.kl_div(logp, target, reduction="batchmean") * self.cfg.tau ** 2

    def fit(self):
        for epoch in range(self.cfg.epochs):
            self.sampler.set_epoch(epoch)
            for x, _ in self.loader:
                self.opt.zero_grad()
                loss = self.loss(x)
                loss.backward()
                self.opt.step()
            mean = loss.detach().clone()
            dist.all_reduce(mean)
            if self.rank == 0:
                print(f"epoch {epoch} kl {mean.item() / self.world:.5f}")


if __name__ == "__main__":
    dist.init_process_group("gloo")
    Trainer(Config()).fit()
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()
