"""Token mixer whose weights are kept twice: bf16 to compute, fp32 to update."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Bf16Optimizer:
    def __init__(self, model, lr, weight_decay):
        self.model_groups = [[], []]
        for name, p in model.named_parameters():
            self.model_groups[0 if p.dim() > 1 else 1].append(p)
        self.master_groups = [
            [p.detach().clone().float().requires_grad_(True) for p in group]
            for group in self.model_groups
        ]
        self.inner = torch.optim.AdamW([
            {"params": self.master_groups[0], "weight_decay": weight_decay},
            {"params": self.master_groups[1], "weight_decay": 0.0},
        ], lr=lr)

    def pairs(self):
        for models, masters in zip(self.model_groups, self.master_groups):
            yield from zip(models, masters)

    def zero_grad(self):
        for group in self.model_groups:
            for p in group:
                p.grad = None

    @torch.no_grad()
    def step(self, max_norm=1.0):
        for p, master in self.pairs():
            master.grad = None if p.grad is None else p.grad.float()
        masters = [m for group in self.master_groups for m in group]
        norm = nn.utils.clip_grad_norm_(masters, max_norm)
        self.inner.step()
        for p, master in self.pairs():
            p.copy_(master)
        return norm


class MixerBlock(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.mix = nn.Linear(tokens, tokens)
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        x = x + self.mix(self.norm(x).transpose(1, 2)).transpose(1, 2)
        return x + F.gelu(self.fc(x))


class Mixer(nn.Module):
    def __init__(self, n_in=5, tokens=6, dim=24, classes=3):
        super().__init__()
        self.inp = nn.Linear(n_in, dim)
        self.blocks = nn.Sequential(MixerBlock(tokens, dim), MixerBlock(tokens, dim))
        self.out = nn.Linear(dim, classes)

    def forward(self, x):
        return self.out(self.blocks(self.inp(x)).mean(1))


def data(n=384):
    g = torch.Generator().manual_seed(3)
    y = torch.randint(0, 3, (n,), generator=g)
    x = torch.randn(n, 6, 5, generator=g) + y.view(-1, 1, 1) * torch.linspace(-0.5, 0.5, 6).view(1, 6, 1)
    return TensorDataset(x.bfloat16(), y)


def main():
    torch.manual_seed(2)
    model = Mixer().to(torch.bfloat16)
    opt = Bf16Optimizer(model, lr=2e-3, weight_decay=0.01)
    loader = DataLoader(data(), batch_size=32, shuffle=True)
    for epoch in range(6):
        total = 0.0
        for x, y in loader:
            opt.zero_grad()
            loss = F.cross_entropy(model(x).float(), y)
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


main()
