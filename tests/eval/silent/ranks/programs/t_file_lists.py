"""Training from per-worker file lists; a summary is gathered at the end."""
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import ConcatDataset, DataLoader, TensorDataset

FILES = {"part-00": 32, "part-01": 32, "part-02": 24, "part-03": 16}


def read(name):
    g = torch.Generator().manual_seed(int(name[-2:]) + 1)
    x = torch.randn(FILES[name], 11, generator=g)
    return TensorDataset(x, torch.tanh(x[:, :2]).sum(1, keepdim=True))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(11, 36)
        self.norm = nn.LayerNorm(36)
        self.out = nn.Linear(36, 1)

    def forward(self, x):
        return self.out(torch.nn.functional.mish(self.norm(self.inp(x))))


def summarise(seen, loss):
    mine = torch.tensor([float(seen), loss])
    parts = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, mine)
    table = torch.stack(parts)
    return int(table[:, 0].sum()), table[:, 1].mean().item()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(90)
    model = DDP(Net())
    mine = sorted(FILES)[rank::world]
    loader = DataLoader(ConcatDataset([read(n) for n in mine]), batch_size=8, shuffle=True,
                        generator=torch.Generator().manual_seed(90))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    seen = 0
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        seen += len(x)
    rows, mean = summarise(seen, loss.item())
    if rank == 0:
        print(f"{rows} rows, loss {mean:.4f}")
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
