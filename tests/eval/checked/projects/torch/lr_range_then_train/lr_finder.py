import copy
import math

import torch


def find_lr(model, loader, criterion, lo=1e-4, hi=0.5, steps=30, stop_factor=1.5):
    """Exponential sweep on a copy of the model; returns a tenth of the rate with the lowest smoothed loss."""
    probe = copy.deepcopy(model)
    probe.train()
    opt = torch.optim.SGD(probe.parameters(), lr=lo, momentum=0.9)
    ratio = (hi / lo) ** (1 / (steps - 1))
    smooth, best, best_lr = None, math.inf, lo
    batches = iter(loader)
    for k in range(steps):
        try:
            x, y = next(batches)
        except StopIteration:
            batches = iter(loader)
            x, y = next(batches)
        lr = lo * ratio**k
        for group in opt.param_groups:
            group["lr"] = lr
        opt.zero_grad()
        loss = criterion(probe(x), y)
        loss.backward()
        opt.step()
        smooth = loss.item() if smooth is None else 0.7 * smooth + 0.3 * loss.item()
        if smooth < best:
            best, best_lr = smooth, lr
        elif smooth > stop_factor * best:
            break
    return best_lr / 10
