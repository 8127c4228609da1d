"""Fine-tuning with a frozen backbone that is released after a few steps."""
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Backbone(nn.Module):
    def __init__(self, dim=28):
        super().__init__()
        self.stem = nn.Linear(9, dim)
        self.blocks = nn.ModuleList(nn.Linear(dim, dim) for _ in range(2))

    def forward(self, x):
        x = F.relu(self.stem(x))
        for block in self.blocks:
            x = x + F.relu(block(x))
        return x


class GradSync:
    def __init__(self, module, world):
        self.world = world
        self.params = [p for p in module.parameters() if p.requires_grad]

    def __call__(self):
        for p in self.params:
            dist.all_reduce(p.grad)
            p.grad.div_(self.world)


def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad_(flag)


def main(release=7, epochs=1):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(15)
    backbone, head = Backbone(), nn.Linear(28, 3)
    model = nn.Sequential(backbone, head)
    for p in model.parameters():
        dist.broadcast(p.data, 0)
    set_trainable(backbone, False)
    sync = GradSync(model, world)
    opt = torch.optim.SGD([{"params": head.parameters(), "lr": 0.1}, {"params": backbone.parameters(), "lr": 0.02}])
    x = torch.randn(224, 9, generator=torch.Generator().manual_seed(16))
    data = TensorDataset(x, (x[:, :3] * x[:, 3:6]).argmax(1))
    sampler = DistributedSampler(data, seed=1)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    step = 0
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            if step == release:
                set_trainable(backbone, True)
            loss = F.cross_entropy(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            sync()
            opt.step()
            step += 1
            if rank == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
