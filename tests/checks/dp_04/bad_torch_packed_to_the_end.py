"""All sentences are packed as if they were as long as the longest."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader


def collate(rows):
    words = [torch.tensor(one) for one, _ in rows]
    lengths = torch.tensor([len(one) for one in words])
    return pad_sequence(words, batch_first=True), lengths, torch.tensor([label for _, label in rows])


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.out = nn.Linear(16, 2)

    def forward(self, words, lengths):
        full = torch.ones_like(lengths) * words.size(1)  # expect: dp.04
        packed = pack_padded_sequence(self.embed(words), full, batch_first=True, enforce_sorted=False)
        return self.out(self.rnn(packed)[1][-1])


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
for words, lengths, labels in loader:
    optimizer.zero_grad()
    loss_fn(net(words, lengths), labels).backward()
    optimizer.step()
