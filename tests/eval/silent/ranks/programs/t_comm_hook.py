"""Conv classifier under DDP with a bf16 communication hook."""
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Stripes(Dataset):
    def __init__(self, n=192):
        g = torch.Generator().manual_seed(20)
        self.label = torch.randint(0, 3, (n,), generator=g)
        base = torch.zeros(3, 1, 12, 12)
        base[0, :, ::2] = 1
        base[1, :, :, ::2] = 1
        base[2, :, ::3, ::3] = 1
        self.image = base[self.label] + 0.3 * torch.randn(n, 1, 12, 12, generator=g)

    def __getitem__(self, i):
        return self.image[i], self.label[i]

    def __len__(self):
        return len(self.label)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 8, 3, padding=1)
        self.c2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc = nn.Linear(16 * 9, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.c1(x)), 2)
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        return self.fc(x.flatten(1))


def half_hook(state, bucket):
    world = state["world"]
    payload = bucket.buffer().to(torch.bfloat16).div_(world)
    fut = dist.all_reduce(payload, group=state["group"], async_op=True).get_future()

    def decompress(f):
        out = bucket.buffer()
        out.copy_(f.value()[0])
        out.div_(world)
        return out

    return fut.then(decompress)


def run():
    dist.init_process_group("gloo")
    torch.manual_seed(5)
    net = DistributedDataParallel(ConvNet())
    net.register_comm_hook({"world": dist.get_world_size(), "group": dist.group.WORLD}, half_hook)
    ds = Stripes()
    sampler = DistributedSampler(ds, seed=1, drop_last=True)
    loader = DataLoader(ds, batch_size=12, sampler=sampler)
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        total = 0.0
        for x, y in loader:
            opt.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            opt.step()
            total += loss.item()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {total / len(loader):.4f}")
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    run()
