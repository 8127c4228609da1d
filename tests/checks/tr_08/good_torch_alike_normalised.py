# run:
# ranks: 2
"""Ranks with batch normalisation share their gradients."""

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(2)
x = torch.randn(96, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x[rank:64:2], y[rank:64:2]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)
net = nn.parallel.DistributedDataParallel(
    nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()

    net.eval()
    with torch.no_grad():
        hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test)
    print(epoch, hits / len(test.dataset))
dist.destroy_process_group()
