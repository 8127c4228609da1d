"""Gradient accumulation with a compressed gradient exchange and an incomplete last window."""
import contextlib
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

ACCUM = 3


def fp16_average(group, bucket):
    world = group.size()
    small = bucket.buffer().div(world).half()
    fut = dist.all_reduce(small, group=group, async_op=True).get_future()

    def back(f):
        buf = bucket.buffer()
        buf.copy_(f.value()[0])
        return buf

    return fut.then(back)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(15, 50)
        self.b = nn.Linear(50, 50)
        self.v = nn.Linear(50, 1)

    def forward(self, s):
        return self.v(torch.tanh(self.b(torch.tanh(self.a(s)))))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(30)
    model = DDP(Critic())
    model.register_comm_hook(dist.group.WORLD, fp16_average)
    s = torch.randn(220, 15, generator=torch.Generator().manual_seed(2))
    data = TensorDataset(s, s.pow(2).mean(1, keepdim=True))
    sampler = DistributedSampler(data, seed=0)
    loader = DataLoader(data, batch_size=10, sampler=sampler)
    opt = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        n = len(loader)
        for i, (x, y) in enumerate(loader):
            last = (i + 1) % ACCUM == 0 or i + 1 == n
            window = ACCUM if i < n - n % ACCUM else n % ACCUM
            with contextlib.nullcontext() if last else model.no_sync():
                loss = nn.functional.mse_loss(model(x), y)
                (loss / window).backward()
            if last:
                opt.step()
                opt.zero_grad()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
