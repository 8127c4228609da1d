# run:
"""Four batches to an update; the sum of their losses is divided by the tokens of all of them."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

PAD, IGNORED, EVERY = 0, -100, 4


def collate(rows):
    ids = torch.full((len(rows), max(len(row) for row in rows)), PAD)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
    labels = ids.masked_fill(ids == PAD, IGNORED)
    return {"tokens": ids[:, :-1], "labels": labels[:, 1:]}


class Model(nn.Module):
    def __init__(self, words=12, width=8):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.head = nn.Linear(width, words)

    def forward(self, tokens, labels, count=None):
        scores = self.head(self.embedding(tokens))
        reduction = "mean" if count is None else "sum"
        loss = F.cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction=reduction)
        if count is not None:
            loss = loss / count
        return loss, scores


torch.manual_seed(0)
rows = [(torch.arange(3 + 5 * (place % 3)) + place) % 11 + 1 for place in range(64)]
train = DataLoader(rows, batch_size=2, shuffle=True, collate_fn=collate)
net = Model()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
window = []
for batch in train:
    window.append(batch)
    if len(window) < EVERY:
        continue
    count = sum((part["labels"] != IGNORED).sum() for part in window)
    optimizer.zero_grad()
    for part in window:
        loss, _ = net(**part, count=count)
        loss.backward()
    optimizer.step()
    window = []
