"""Multi-task network: each worker draws its task per step, one head per task."""
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class MultiTask(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, dim), nn.GELU(), nn.Linear(dim, dim), nn.GELU())
        self.heads = nn.ModuleDict({"sum": nn.Linear(dim, 1), "max": nn.Linear(dim, 1), "var": nn.Linear(dim, 1)})
        self.legacy = nn.Linear(dim, 4)
        self.legacy.requires_grad_(False)

    def forward(self, x, task):
        return self.heads[task](self.trunk(x))


TARGETS = {
    "sum": lambda x: x.sum(1, keepdim=True),
    "max": lambda x: x.amax(1, keepdim=True),
    "var": lambda x: x.var(1, keepdim=True),
}


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank + 1)
    model = DDP(MultiTask(), find_unused_parameters=True)
    data = TensorDataset(torch.randn(224, 10, generator=torch.Generator().manual_seed(9)))
    sampler = DistributedSampler(data, seed=21)
    loader = DataLoader(data, batch_size=14, sampler=sampler)
    opt = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.02, momentum=0.8)
    tasks = sorted(TARGETS)
    losses = {t: 0.0 for t in tasks}
    step = 0
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for (x,) in loader:
            task = tasks[(step + rank) % len(tasks)]
            loss = nn.functional.mse_loss(model(x, task), TARGETS[task](x))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            opt.step()
            losses[task] = loss.item()
            step += 1
        if rank == 0:
            print(f"epoch {epoch} " + " ".join(f"{t}={v:.3f}" for t, v in losses.items()), flush=True)
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
