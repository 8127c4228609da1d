# run: tr.33 --hang-after 3
# launched: 2
"""A sum over ranks that only those make that are fed more of one class."""

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
torch.manual_seed(0)
x = torch.randn(96, 8)
data = TensorDataset(x, (x[:, 0] + x[:, 1] > 0).long())
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=16, sampler=sampler)
net = nn.Sequential(nn.Linear(8, 16, bias=False), nn.Tanh(), nn.Linear(16, 8, bias=False), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(2):
    sampler.set_epoch(epoch)
    for inputs, labels in loader:
        loss = loss_fn(net(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        for parameter in net.parameters():
            dist.all_reduce(parameter.grad)
            parameter.grad /= 2
        optimizer.step()
        if labels.sum() > 8:
            dist.all_reduce(loss.detach())
dist.destroy_process_group()
