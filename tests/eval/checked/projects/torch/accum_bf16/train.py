#!/usr/bin/env python
"""Micro-batches of 8, one update per 32 samples, forward in bfloat16."""

from itertools import islice

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

MICRO, WINDOW = 8, 4
amp = lambda: torch.autocast(device_type="cpu", dtype=torch.bfloat16)  # noqa: E731


class ResidualMLP(nn.Module):
    def __init__(self, d_in, width, depth, n_out):
        super().__init__()
        self.stem = nn.Linear(d_in, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
            for _ in range(depth)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, n_out)

    def forward(self, x):
        h = self.stem(x)
        for b in self.blocks:
            h = h + b(h)
        return self.head(self.norm(h))


def windows(loader, k):
    """Lists of up to k micro-batches; the last list may be shorter."""
    it = iter(loader)
    while chunk := list(islice(it, k)):
        yield chunk


def two_moons_like(n, gen):
    """Three interleaved arcs lifted into 6 dimensions."""
    y = torch.randint(0, 3, (n,), generator=gen)
    t = torch.rand(n, generator=gen) * 2.6 + y * 2.0944
    r = 1.0 + 0.35 * torch.rand(n, generator=gen) + 0.3 * (t - y * 2.0944)
    flat = torch.stack([r * t.cos(), r * t.sin()], 1) + 0.05 * torch.randn(n, 2, generator=gen)
    lift = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7], [-0.7, 0.7], [0.9, -0.4], [0.4, 0.9]])
    return flat @ lift.T, y


torch.manual_seed(5)
g = torch.Generator().manual_seed(5)
x, y = two_moons_like(740, g)
xv, yv = two_moons_like(250, g)
m, s = x.mean(0), x.std(0)
train_loader = DataLoader(TensorDataset((x - m) / s, y), batch_size=MICRO, shuffle=True)
val_loader = DataLoader(TensorDataset((xv - m) / s, yv), batch_size=100)

model = ResidualMLP(6, 48, 2, 3)
ce_sum = nn.CrossEntropyLoss(reduction="sum")
opt = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(3):
    model.train()
    seen, total = 0, 0.0
    for chunk in windows(train_loader, WINDOW):
        n = sum(len(yb) for _, yb in chunk)
        opt.zero_grad(set_to_none=True)
        for xb, yb in chunk:
            with amp():
                logits = model(xb)
            # summed loss over the true number of samples: no need to divide by WINDOW
            loss = ce_sum(logits.float(), yb) / n
            loss.backward()
            total += loss.item() * n
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        seen += n

    model.eval()
    v_loss, v_hit = 0.0, 0
    with torch.inference_mode(), amp():
        for xb, yb in val_loader:
            logits = model(xb).float()
            v_loss += ce_sum(logits, yb).item()
            v_hit += int((logits.argmax(-1) == yb).sum())
    print(f"epoch {epoch}: loss {total / seen:.4f} | val {v_loss / len(yv):.4f} acc {v_hit / len(yv):.3f}")
