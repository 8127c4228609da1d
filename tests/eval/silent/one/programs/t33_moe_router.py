"""Mixture of experts under autocast, with a router that computes in float32."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        return (self.weight * h).type_as(x)


class Router(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.gate = nn.Linear(dim, experts, bias=False)

    @torch.autocast("cpu", enabled=False)
    def forward(self, x):
        probs = self.gate(x.float()).softmax(-1)
        weight, index = probs.max(-1)
        load = F.one_hot(index, probs.size(-1)).float().mean(0)
        return weight, index, (load * probs.mean(0)).sum() * probs.size(-1)


class MoE(nn.Module):
    def __init__(self, dim, experts=4):
        super().__init__()
        self.norm = RMSNorm(dim)
        self.router = Router(dim, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim)) for _ in range(experts))

    def forward(self, x):
        h = self.norm(x)
        weight, index, aux = self.router(h)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            rows = (index == e).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            y = expert(h[rows]) * weight[rows].unsqueeze(1).to(h.dtype)
            out = out.index_add(0, rows, y.to(out.dtype))
        return x + out, aux


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(8, 24)
        self.moe = MoE(24)
        self.out = nn.Linear(24, 4)

    def forward(self, x):
        h, aux = self.moe(self.inp(x))
        return self.out(h), aux


if __name__ == "__main__":
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(5)
    x = torch.randn(512, 8, generator=g)
    y = (x[:, 0] > 0).long() * 2 + (x[:, 1] * x[:, 2] > 0).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    net = Net()
    opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
    for epoch in range(5):
        total = 0.0
        for xb, yb in loader:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits, aux = net(xb)
                loss = F.cross_entropy(logits, yb) + 0.01 * aux
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")
