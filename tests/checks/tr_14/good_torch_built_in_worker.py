# run:
"""The generator is built in the worker."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset, get_worker_info

torch.manual_seed(0)
np.random.seed(0)
x = np.random.standard_normal((96, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int64)


class Noisy(Dataset):
    draw = None

    def __getitem__(self, place):
        if self.draw is None:
            self.draw = np.random.default_rng(get_worker_info().seed)
        return x[place] + 0.1 * self.draw.standard_normal(6).astype(np.float32), y[place]

    def __len__(self):
        return 64


train = DataLoader(Noisy(), batch_size=16, shuffle=True, num_workers=2)
test = DataLoader(TensorDataset(torch.from_numpy(x[64:]), torch.from_numpy(y[64:])), batch_size=16)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss_fn = nn.CrossEntropyLoss()
net.train()
for inputs, labels in train:
    optimizer.zero_grad()
    loss_fn(net(inputs), labels).backward()
    optimizer.step()
net.eval()
with torch.no_grad():
    print(sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test))
