"""The first rank decides when to end, and all hear of it."""

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

rank = int(os.environ["RANK"])
dist.init_process_group("gloo")
torch.manual_seed(0)
x = torch.randn(96, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
data = TensorDataset(x, y)
sampler = DistributedSampler(data)
train = DataLoader(data, batch_size=16, sampler=sampler)
net = DistributedDataParallel(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2)))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(2):
    sampler.set_epoch(epoch)
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
    ended = torch.tensor(float(loss.item() < 0.1))
    dist.broadcast(ended, 0)
    if ended.item() > 0:
        break
    if rank == 0:
        print(epoch, loss.item())
dist.destroy_process_group()
