"""Two-headed network; every tensor is stepped along its unit gradient."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class UnitSGD(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                direction = p.grad / p.grad.norm()
                p.add_(direction, alpha=-group["lr"])


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(9, 20), nn.Tanh())
        self.main_head = nn.Linear(20, 4)
        self.aux_head = nn.Linear(20, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.main_head(h), self.aux_head(h)


def main():
    torch.manual_seed(0)
    x = torch.randn(54, 9)
    data = TensorDataset(x, torch.randint(0, 4, (54,)), x.sum(1, keepdim=True))
    net = TwoHeads()
    opt = UnitSGD(net.parameters(), lr=0.02)
    weights = [0.5, 0.4, 0.3, 0.2, 0.1]
    for step, (xb, yb, rb) in enumerate(DataLoader(data, batch_size=6)):
        aux_weight = weights[step] if step < len(weights) else 0.0
        logits, reg = net(xb)
        loss = nn.functional.cross_entropy(logits, yb) + aux_weight * nn.functional.mse_loss(reg, rb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, aux_weight, loss.item())


if __name__ == "__main__":
    main()
