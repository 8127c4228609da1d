# run: dp.04
"""Some sequences were filled up on the left, others on the right."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(40, 16, padding_idx=0)
        self.out = nn.Linear(16, 2)

    def forward(self, words, mask):
        there = mask.unsqueeze(-1).float()
        return self.out((self.words(words) * there).sum(1) / there.sum(1))


torch.manual_seed(0)
words = torch.randint(1, 40, (48, 10))
lengths = torch.randint(4, 11, (48,))
y = (words[:, 0] > 20).long()
words[torch.arange(10) >= lengths[:, None]] = 0
words[::3] = words[::3].flip(1)
train = DataLoader(TensorDataset(words, (words != 0).long(), y), batch_size=16, shuffle=True)
net = Reader()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    for inputs, mask, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs, mask), labels).backward()
        optimizer.step()
