"""Sharpness-aware minimisation around SGD."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base = base(self.param_groups, **kwargs)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def ascend(self):
        grads = [p.grad for group in self.param_groups for p in group["params"] if p.grad is not None]
        norm = torch.stack([g.norm() for g in grads]).norm() + 1e-12
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["home"] = p.clone()
                p.add_(p.grad, alpha=float(group["rho"] / norm))
        self.zero_grad()

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if "home" in self.state[p]:
                    p.copy_(self.state[p].pop("home"))
        self.base.step()
        self.zero_grad()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 40), nn.GELU(), nn.Linear(40, 3))

    def forward(self, x):
        return self.body(x)


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(12)
    x = torch.randn(384, 6, generator=g)
    y = torch.stack([x[:, 0] * x[:, 1], x[:, 2], x[:, 3].abs() - 0.5], 1).argmax(1)
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    net = Net()
    opt = SAM(net.parameters(), torch.optim.SGD, rho=0.05, lr=0.1, momentum=0.9)
    for epoch in range(6):
        total = 0.0
        for xb, yb in loader:
            loss = F.cross_entropy(net(xb), yb)
            loss.backward()
            opt.ascend()
            F.cross_entropy(net(xb), yb).backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
