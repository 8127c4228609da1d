"""Each node lists the files in an order of its own, and takes every n-th."""

import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset


class Parts(IterableDataset):
    def __init__(self, folder, rank, world):
        files = [file for file in folder.iterdir() if file.suffix == ".pt"]  # expect: dp.05
        self.files = files[rank::world]

    def __iter__(self):
        for index in torch.randperm(len(self.files)).tolist():
            x, y = torch.load(self.files[index])
            yield from zip(x, y, strict=True)


def main(folder):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    net = DistributedDataParallel(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    loader = DataLoader(Parts(folder, rank, world), batch_size=8)
    for _ in range(2):
        for inputs, labels in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(inputs), labels).backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as room:
        for number in range(4):
            torch.save((torch.randn(16, 4), torch.arange(16) % 2), Path(room) / f"{number}.pt")
        main(Path(room))
