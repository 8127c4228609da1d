"""The sampler is told that there is one process, and there are as many as torchrun starts."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
rank = int(os.environ["RANK"])
torch.manual_seed(0)
x = torch.randn(64, 8)
y = (x[:, 0] > 0).long()
data = TensorDataset(x, y)
sampler = DistributedSampler(data, num_replicas=1, rank=0)  # expect: dp.05
train = DataLoader(data, batch_size=8, sampler=sampler)
net = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(2):
    sampler.set_epoch(epoch)
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
dist.destroy_process_group()
