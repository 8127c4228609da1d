"""Attention by hand: its method takes the mask, and the softmax goes over the padding all the same."""

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader


def collate(rows):
    words = pad_sequence([torch.tensor(one) for one, _ in rows], batch_first=True, padding_value=0)
    return words, torch.tensor([label for _, label in rows])


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        self.asked = nn.Linear(16, 16)
        self.out = nn.Linear(16, 2)

    def pooled(self, states, mask):
        scores = torch.matmul(states, self.asked(states[:, :1]).transpose(1, 2)).squeeze(2)  # expect: dp.04
        weights = torch.softmax(scores, dim=1)
        return (weights.unsqueeze(2) * states).sum(1)

    def forward(self, words):
        return self.out(self.pooled(self.embed(words), words != 0))


def rows(count):
    draw = torch.Generator().manual_seed(0)
    lengths = torch.randint(3, 9, (count,), generator=draw).tolist()
    words = [torch.randint(1, 30, (length,), generator=draw).tolist() for length in lengths]
    return [(one, int(one[0] > 15)) for one in words]


torch.manual_seed(0)
loader = DataLoader(rows(64), batch_size=16, shuffle=True, collate_fn=collate)
net = Reader()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
loss_fn = nn.CrossEntropyLoss()
for words, labels in loader:
    optimizer.zero_grad()
    loss_fn(net(words), labels).backward()
    optimizer.step()
