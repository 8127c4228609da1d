"""Each rank's part of a text has one token more, which is the last target; samples are windows of it."""

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, tokens, length):
        self.tokens, self.length = tokens, length

    def __len__(self):
        return (len(self.tokens) - 1) // self.length

    def __getitem__(self, index):
        start = index * self.length
        piece = self.tokens[start : start + self.length + 1]
        return piece[:-1], piece[1:]


dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
tokens = torch.randint(0, 50, (4000,))
part = len(tokens) // world
own = tokens[rank * part : (rank + 1) * part + 16]
train = DataLoader(Windows(own, 16), batch_size=8, shuffle=True)
net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Embedding(50, 16), nn.Linear(16, 50)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(2):
    for inputs, targets in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(inputs).flatten(0, 1), targets.flatten()).backward()
        optimizer.step()
dist.destroy_process_group()
