"""Gradients from autograd.grad written into .grad, with a moving-average copy for evaluation."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class EMA:
    def __init__(self, model, decay=0.95):
        self.shadow = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for s, p in zip(self.shadow.parameters(), model.parameters()):
            s.lerp_(p, 1 - self.decay)
        for s, b in zip(self.shadow.buffers(), model.buffers()):
            s.copy_(b)


def build():
    return nn.Sequential(nn.Linear(4, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 1))


def noisy_targets(n, gen):
    x = torch.randn(n, 4, generator=gen)
    clean = (x[:, :2].prod(1) + x[:, 2]).unsqueeze(1)
    return x, clean + 0.2 * torch.randn(n, 1, generator=gen), clean


def assign_grads(params, grads, noise_std, gen):
    for p, g in zip(params, grads):
        p.grad = g + noise_std * torch.randn(g.shape, generator=gen)


def main():
    torch.manual_seed(41)
    gen = torch.Generator().manual_seed(7)
    model = build()
    ema = EMA(model)
    params = list(model.parameters())
    opt = torch.optim.SGD(params, lr=0.05, momentum=0.9, nesterov=True)
    xv, _, yv = noisy_targets(200, gen)
    for it in range(120):
        x, y, _ = noisy_targets(32, gen)
        loss = F.mse_loss(model(x), y)
        grads = torch.autograd.grad(loss, params)
        assign_grads(params, grads, 1e-3, gen)
        opt.step()
        ema.update(model)
        if it % 24 == 23:
            with torch.no_grad():
                shadow = F.mse_loss(ema.shadow(xv), yv).item()
            print(f"it {it + 1} loss {loss.item():.4f} ema {shadow:.4f}")


main()
