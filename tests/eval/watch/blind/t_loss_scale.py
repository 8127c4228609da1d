"""fp16 body with fp32 master weights and a loss scale that doubles every step."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class HalfNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 24), nn.Tanh())
        self.head = nn.Linear(24, 2)

    def forward(self, x):
        h = self.body(x.half())
        out = self.head(h)
        return out.float()


class MasterSGD:
    def __init__(self, model, lr):
        self.live = list(model.parameters())
        self.master = [p.detach().float().clone() for p in self.live]
        self.lr = lr

    def step(self, scale):
        for p, m in zip(self.live, self.master, strict=True):
            m -= self.lr * p.grad.float() / scale
            p.data.copy_(m)
            p.grad = None


def main():
    torch.manual_seed(0)
    x = torch.randn(64, 12)
    y = torch.stack([x[:, 0], x[:, 1] - x[:, 2]], dim=1)
    model = HalfNet().half()
    opt = MasterSGD(model, lr=0.05)
    scale = 2.0**15
    for step, (xb, yb) in enumerate(DataLoader(TensorDataset(x, y), batch_size=8)):
        loss = nn.functional.mse_loss(model(xb), yb)
        (loss * scale).backward()
        opt.step(scale)
        scale *= 2.0
        print(step, scale, loss.item())


if __name__ == "__main__":
    main()
