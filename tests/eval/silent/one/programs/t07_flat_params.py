"""Single flat buffer for all weights, one fused optimizer call."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class FlatOptimizer:
    """Gathers the parameters of a module into one vector and optimises that."""

    def __init__(self, module, lr, momentum=0.9):
        self.params = [p for p in module.parameters() if p.requires_grad]
        self.numels = [p.numel() for p in self.params]
        flat = torch.cat([p.detach().reshape(-1) for p in self.params])
        self._bind(flat)
        self.flat = nn.Parameter(flat.clone())
        self.inner = torch.optim.SGD([self.flat], lr=lr, momentum=momentum)

    def _bind(self, flat):
        offset = 0
        for p, n in zip(self.params, self.numels):
            p.data = flat[offset:offset + n].view_as(p)
            offset += n

    def zero_grad(self):
        for p in self.params:
            p.grad = None
        self.flat.grad = None

    def step(self):
        pieces = []
        for p, n in zip(self.params, self.numels):
            pieces.append(p.grad.reshape(-1) if p.grad is not None else p.new_zeros(n))
        self.flat.grad = torch.cat(pieces)
        self.inner.step()


class SmallConv(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.c1 = nn.Conv2d(1, 8, 3, padding=1)
        self.c2 = nn.Conv2d(8, 12, 3, padding=1, stride=2)
        self.fc = nn.Linear(12, classes)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.relu(self.c2(x))
        return self.fc(x.mean(dim=(2, 3)))


def stripes(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n,), generator=g)
    grid = torch.arange(8.0)
    row = torch.sin(grid * 1.6).view(1, 8, 1).expand(1, 8, 8)
    col = row.transpose(1, 2)
    diag = torch.sin((grid.view(8, 1) + grid.view(1, 8)) * 1.2).unsqueeze(0)
    flat = torch.zeros(1, 8, 8)
    bank = torch.stack([row, col, diag, flat])
    return bank[y] + 0.3 * torch.randn(n, 1, 8, 8, generator=g), y


def main():
    torch.manual_seed(0)
    x, y = stripes(400, 1)
    model = SmallConv()
    opt = FlatOptimizer(model, lr=0.1)
    for epoch in range(5):
        order = torch.randperm(len(x))
        running = 0.0
        for idx in order.split(40):
            opt.zero_grad()
            loss = F.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            opt.step()
            running += loss.item()
        print("epoch", epoch, "loss", round(running / 10, 4))


main()
