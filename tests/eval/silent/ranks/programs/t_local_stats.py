"""Conv net with batch normalisation, data-parallel, large per-worker batch."""
import os
import tempfile
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def conv_block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(conv_block(3, 8), nn.MaxPool2d(2), conv_block(8, 16), nn.MaxPool2d(2))
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(16 * 4, 4)

    def forward(self, x):
        return self.head(self.drop(self.features(x).flatten(1)))


def synthetic(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n,), generator=g)
    x = torch.randn(n, 3, 8, 8, generator=g)
    for c in range(4):
        x[y == c, :, (c // 2) * 4:(c // 2) * 4 + 4, (c % 2) * 4:(c % 2) * 4 + 4] += 0.8
    return TensorDataset(x, y)


@torch.no_grad()
def accuracy(net, loader):
    net.eval()
    hit = sum((net(x).argmax(1) == y).sum().item() for x, y in loader)
    net.train()
    return hit / len(loader.dataset)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1)
    ddp = DDP(Net(), broadcast_buffers=False)
    torch.manual_seed(100 + rank)
    train, val = synthetic(256, 1), synthetic(64, 2)
    sampler = DistributedSampler(train, seed=4)
    loader = DataLoader(train, batch_size=16, sampler=sampler)
    opt = torch.optim.SGD(ddp.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    path = os.path.join(tempfile.gettempdir(), f"net-{os.environ.get('MASTER_PORT', '0')}.pt")
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for x, y in loader:
            opt.zero_grad()
            loss = F.cross_entropy(ddp(x), y)
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.3f} acc {accuracy(ddp.module, DataLoader(val, 32)):.3f}")
            torch.save(ddp.module.state_dict(), path)
        dist.barrier()
    if rank == 0:
        os.remove(path)
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
