"""Only rank 0 takes the step; the others keep their weights."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    x = torch.randn(96, 6)
    data = TensorDataset(x, (x[:, 0] > 0).long())
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    net = DistributedDataParallel(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(inputs), labels).backward()
            if rank == 0:  # expect: tr.08
                optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
