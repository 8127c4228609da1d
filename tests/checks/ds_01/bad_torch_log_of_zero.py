# run: ds.01
"""A feature that is the logarithm of a count, which may be zero."""

import torch
from torch import nn
from torch.utils.data import DataLoader


class Counts(torch.utils.data.Dataset):
    def __init__(self):
        draw = torch.Generator().manual_seed(1)
        self.counts = torch.randint(0, 9, (48, 8), generator=draw).float()
        self.labels = (self.counts.sum(1) > 32).long()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return torch.log(self.counts[index]), self.labels[index]


torch.manual_seed(0)
train = DataLoader(Counts(), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
loss_fn = nn.CrossEntropyLoss()
for _ in range(1):
    for inputs, labels in train:
        optimizer.zero_grad()
        loss = loss_fn(net(inputs), labels)
        loss.backward()
        optimizer.step()
