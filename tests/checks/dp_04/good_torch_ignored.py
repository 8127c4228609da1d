"""Padding has a value of its own, and the loss ignores that one."""

import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

IGNORE = -1


def collate(samples):
    words, tags = zip(*samples, strict=True)
    return (
        pad_sequence([torch.tensor(one) for one in words], batch_first=True),
        pad_sequence([torch.tensor(one) for one in tags], batch_first=True, padding_value=IGNORE),
    )


class Tagger(nn.Module):
    def __init__(self, words, tags):
        super().__init__()
        self.embed = nn.Embedding(words, 16, padding_idx=0)
        self.out = nn.Linear(16, tags)

    def forward(self, words):
        return self.out(self.embed(words))


torch.manual_seed(0)
rnd = random.Random(0)
rows = [[rnd.randrange(1, 20) for _ in range(rnd.randint(3, 7))] for _ in range(96)]
loader = DataLoader([(row, [word % 4 for word in row]) for row in rows], 16, shuffle=True, collate_fn=collate)
net = Tagger(20, 4)
criterion = nn.CrossEntropyLoss(ignore_index=IGNORE)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(2):
    for words, tags in loader:
        optimizer.zero_grad()
        criterion(net(words).transpose(1, 2), tags).backward()
        optimizer.step()
