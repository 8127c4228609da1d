# run: dp.05
# ranks: 2
"""The sampler is never told which epoch it is."""

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
x = torch.randn(64, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
data = TensorDataset(x, y)
train = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))  # expect: dp.05
net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
dist.destroy_process_group()
