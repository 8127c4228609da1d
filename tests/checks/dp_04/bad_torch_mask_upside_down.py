"""The mask of the words goes in where the encoder wants to know the padding."""

import torch
from torch import nn
from torch.utils.data import DataLoader


def collate(rows):
    width = max(len(words) for words, _ in rows)
    return {
        "words": torch.tensor([words + [0] * (width - len(words)) for words, _ in rows]),
        "mask": torch.tensor([[1] * len(words) + [0] * (width - len(words)) for words, _ in rows]),
        "label": torch.tensor([label for _, label in rows]),
    }


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)
        self.out = nn.Linear(16, 2)

    def forward(self, words, mask):
        states = self.encoder(self.embed(words), src_key_padding_mask=mask.bool())  # expect: dp.04
        return self.out(states[:, 0])


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
    loss_fn(net(batch["words"], batch["mask"]), batch["label"]).backward()
    optimizer.step()
