"""Shared trunk, two heads that take turns, gradients clipped module by module."""
import itertools

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class MultiTask(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, dim), nn.ReLU(), nn.Linear(dim, dim), nn.ReLU())
        self.heads = nn.ModuleDict({"sort": nn.Linear(dim, 3), "depth": nn.Linear(dim, 1)})
        self.aux = nn.Linear(dim, 6)

    def forward(self, x, task):
        h = self.trunk(x)
        return self.heads[task](h), self.aux(h)


def datasets():
    g = torch.Generator().manual_seed(29)
    x = torch.randn(320, 6, generator=g)
    sort = DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=40, shuffle=True)
    depth = DataLoader(TensorDataset(x, x[:, 3:4].abs() + x[:, 4:5]), batch_size=40, shuffle=True)
    return {"sort": sort, "depth": depth}


LOSSES = {"sort": F.cross_entropy, "depth": F.mse_loss}


def clip_each(model, limit):
    norms = {}
    for name, module in model.named_children():
        live = [p for p in module.parameters() if p.grad is not None]
        if live:
            norms[name] = float(nn.utils.clip_grad_norm_(live, limit))
    return norms


def main():
    torch.manual_seed(0)
    model = MultiTask()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    loaders = datasets()
    turns = itertools.cycle(["sort"] * 2 + ["depth"])
    history = {"sort": [], "depth": []}
    for round_ in range(9):
        task = next(turns)
        for x, y in loaders[task]:
            opt.zero_grad(set_to_none=True)
            out, rebuilt = model(x, task)
            loss = LOSSES[task](out, y)
            if round_ < 3:
                loss = loss + 0.1 * F.mse_loss(rebuilt, x)
            loss.backward()
            clip_each(model, limit=0.5)
            opt.step()
            history[task].append(loss.item())
        print(f"round {round_} {task} {sum(history[task][-8:]) / 8:.4f}")


main()
