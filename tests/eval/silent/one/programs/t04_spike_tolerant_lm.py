import math
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import Optimizer


def adamw_update(p, grad, exp_avg, exp_avg_sq, step, lr, betas, eps, weight_decay, factor):
    beta1, beta2 = betas
    step += factor
    p.mul_(1 - factor * lr * weight_decay)
    exp_avg.lerp_(grad, factor * (1 - beta1))
    exp_avg_sq.mul_(1 - factor * (1 - beta2)).add_(factor * (1 - beta2) * grad * grad)
    correction1 = 1 - beta1 ** step.item()
    correction2 = 1 - beta2 ** step.item()
    denom = (exp_avg_sq.sqrt() / math.sqrt(correction2)).add_(eps)
    p.addcdiv_(exp_avg, denom, value=-factor * lr / correction1)


class SkipStepAdamW(Optimizer):
    """AdamW (after OLMo-core) that leaves out updates whose loss is far above the recent ones."""

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1,
                 window=12, sigma=3.0):
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay))
        self.history = []
        self.window = window
        self.sigma = sigma
        self.latest_loss = None

    def step_factor(self):
        if self.latest_loss is None or len(self.history) < self.window:
            return 1.0
        recent = torch.tensor(self.history[-self.window:])
        return 1.0 if self.latest_loss <= recent.mean() + self.sigma * recent.std() else 0.0

    @torch.no_grad()
    def step(self, closure=None):
        factor = self.step_factor()
        if self.latest_loss is not None:
            self.history.append(self.latest_loss)
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["step"] = torch.zeros((), dtype=torch.float64)
                    state["exp_avg"] = torch.zeros_like(p)
                    state["exp_avg_sq"] = torch.zeros_like(p)
                adamw_update(p, p.grad, state["exp_avg"], state["exp_avg_sq"], state["step"],
                             group["lr"], group["betas"], group["eps"], group["weight_decay"], factor)


@dataclass
class Config:
    vocab: int = 32
    dim: int = 48
    length: int = 16
    batch: int = 16
    steps: int = 60
    lr: float = 2e-3


class TinyLM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.dim)
        self.rnn = nn.GRU(cfg.dim, cfg.dim, batch_first=True)
        self.out = nn.Linear(cfg.dim, cfg.vocab)

    def forward(self, ids):
        h, _ = self.rnn(self.embed(ids))
        return self.out(h)


def batches(cfg):
    g = torch.Generator().manual_seed(3)
    while True:
        start = torch.randint(0, cfg.vocab, (cfg.batch, 1), generator=g)
        stride = torch.randint(1, 4, (cfg.batch, 1), generator=g)
        yield (start + stride * torch.arange(cfg.length + 1)) % cfg.vocab


def main():
    cfg = Config()
    torch.manual_seed(cfg.dim)
    model = TinyLM(cfg)
    optim = SkipStepAdamW(model.parameters(), lr=cfg.lr)
    stream = batches(cfg)
    noise = torch.Generator().manual_seed(99)
    for it in range(cfg.steps):
        ids = next(stream)
        if it in (30, 45):
            ids = torch.randint(0, cfg.vocab, ids.shape, generator=noise)
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, cfg.vocab), ids[:, 1:].reshape(-1))
        optim.zero_grad(set_to_none=True)
        loss.backward()
        optim.latest_loss = loss.item()
        optim.step()
        if it % 10 == 0 or it == cfg.steps - 1:
            print(f"step {it:3d} loss {loss.item():.4f}")


main()
