"""Healthy masks that look alike: turned over, by lengths, by value, causal; of lengths the shape is used as well."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torch.utils.data import DataLoader


def collate(rows):
    width = max(len(words) for words, _ in rows)
    return {
        "words": torch.tensor([words + [0] * (width - len(words)) for words, _ in rows]),
        "mask": torch.tensor([[1] * len(words) + [0] * (width - len(words)) for words, _ in rows]),
        "lengths": torch.tensor([len(words) for words, _ in rows]),
        "label": torch.tensor([label for _, label in rows]),
    }


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.first = nn.TransformerEncoder(layer, 1)
        self.second = nn.MultiheadAttention(16, 2, batch_first=True)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.out = nn.Linear(16, 2)

    def attended(self, states, mask):
        scores = states @ states.transpose(1, 2) / 4
        future = torch.triu(torch.ones_like(scores), 1)
        scores = scores.masked_fill(future == 1, float("-inf")).masked_fill(mask[:, None] == 0, -1e9)
        return torch.softmax(scores, -1) @ states

    def plain(self, states, mask):
        return self.out(states), mask

    def forward(self, words, mask, lengths):
        states = self.first(self.embed(words), src_key_padding_mask=~mask.bool())
        padding = torch.arange(words.size(1)) >= lengths[:, None]
        states = self.second(states, states, states, key_padding_mask=padding, need_weights=False)[0]
        states = self.attended(states, mask)
        nothing = torch.zeros_like(lengths).float()
        packed = pack_padded_sequence(states, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True, total_length=words.size(1))
        bias = (words == 0).float() * -1e9
        weights = torch.softmax(states.sum(-1) + bias, -1)
        pooled = (weights.unsqueeze(-1) * states).sum(1) + nothing[:, None]
        ended = states[torch.arange(len(words)), lengths - 1]
        return self.plain(pooled + ended, mask)[0]


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
for batch in loader:
    optimizer.zero_grad()
    loss_fn(net(batch["words"], batch["mask"], batch["lengths"]), batch["label"]).backward()
    optimizer.step()
