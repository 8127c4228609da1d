"""A mask that is turned over and added to scores; a pooling whose mask nobody gives."""

import torch
from torch import nn
from torch.utils.data import DataLoader


def collate(rows):
    width = max(len(w) for w, _ in rows)
    ids = torch.tensor([w + [0] * (width - len(w)) for w, _ in rows])
    mask = torch.tensor([[1] * len(w) + [0] * (width - len(w)) for w, _ in rows])
    return ids, mask, torch.tensor([y for _, y in rows])


class Attn(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x, mask=None):
        scores = torch.matmul(self.q(x), self.k(x).transpose(1, 2))
        if mask is not None:
            scores = scores + mask
        return torch.softmax(scores, -1) @ self.v(x)


class Pooler(nn.Module):
    def forward(self, x, mask=None):
        w = torch.softmax(x @ x.mean(1, keepdim=True).transpose(1, 2), 1)
        return (w * x).sum(1)


class Bert(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(30, 16)
        self.a = Attn(16)
        self.p = Pooler()
        self.o = nn.Linear(16, 2)

    def forward(self, ids, mask):
        ext = (1.0 - mask[:, None, :].float()) * -10000.0
        x = self.a(self.e(ids), ext)
        return self.o(self.p(x * mask.unsqueeze(-1)))


rows = [([1, 2, 3][: 1 + i % 3], i % 2) for i in range(64)]
dl = DataLoader(rows, 8, shuffle=True, collate_fn=collate)
net = Bert()
opt = torch.optim.AdamW(net.parameters(), 1e-3)
for _ in range(2):
    for ids, mask, y in dl:
        opt.zero_grad()
        nn.functional.cross_entropy(net(ids, mask), y).backward()
        opt.step()
