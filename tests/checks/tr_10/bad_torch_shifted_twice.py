"""The dataset shifts the targets of a language model, and the loss shifts them again."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, ids, size):
        self.ids, self.size = ids, size

    def __len__(self):
        return len(self.ids) // self.size - 1

    def __getitem__(self, index):
        window = self.ids[index * self.size : (index + 1) * self.size + 1]
        return window[:-1], window[1:]


def loss_of(logits, targets):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten())  # expect: tr.10


torch.manual_seed(0)
ids = torch.arange(2000) * 7 % 23
loader = DataLoader(Windows(ids, 16), batch_size=16, shuffle=True)
net = nn.Sequential(nn.Embedding(23, 16), nn.Linear(16, 23))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for inputs, targets in loader:
    optimizer.zero_grad()
    loss_of(net(inputs), targets).backward()
    optimizer.step()
