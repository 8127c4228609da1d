import torch
import torch.nn.functional as F
from ema import ModelEma
from net import MicroResNet
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, BS, PEAK_LR = 3, 32, 0.05


def textures(n, g):
    """Colour stripes: horizontal, vertical, diagonal, or none."""
    y = torch.randint(0, 4, (n,), generator=g)
    ax = torch.arange(12.0)
    fy = torch.tensor([1.0, 0.0, 0.7, 0.0])[y].view(-1, 1, 1, 1)
    fx = torch.tensor([0.0, 1.0, 0.7, 0.0])[y].view(-1, 1, 1, 1)
    phase = torch.rand(n, 1, 1, 1, generator=g) * 6.28
    wave = torch.sin(1.6 * (fy * ax.view(1, 1, -1, 1) + fx * ax.view(1, 1, 1, -1)) + phase)
    tint = 0.5 + torch.rand(n, 3, 1, 1, generator=g)
    x = wave * tint + 0.7 * torch.randn(n, 3, 12, 12, generator=g)
    return x, y


def mixup(x, y, alpha=0.2):
    lam = torch.distributions.Beta(alpha, alpha).sample().item()
    lam = max(lam, 1 - lam)
    perm = torch.randperm(len(x))
    return lam * x + (1 - lam) * x[perm], y, y[perm], lam


def split_decay(model, wd):
    decay = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    return [dict(params=decay, weight_decay=wd), dict(params=plain, weight_decay=0.0)]


@torch.no_grad()
def accuracy_and_loss(net, loader):
    assert not net.training
    loss = hit = n = 0
    for x, y in loader:
        out = net(x)
        loss += F.cross_entropy(out, y, reduction="sum").item()
        hit += (out.argmax(1) == y).sum().item()
        n += len(y)
    return hit / n, loss / n


def main():
    torch.manual_seed(21)
    g = torch.Generator().manual_seed(21)
    train_dl = DataLoader(TensorDataset(*textures(640, g)), BS, shuffle=True)
    val_dl = DataLoader(TensorDataset(*textures(200, g)), 100)

    net = MicroResNet(4)
    ema = ModelEma(net, decay=0.97)
    opt = torch.optim.SGD(split_decay(net, 5e-4), lr=PEAK_LR, momentum=0.9, nesterov=True)
    steps = EPOCHS * len(train_dl)
    warm = LinearLR(opt, start_factor=0.1, total_iters=8)
    sched = SequentialLR(opt, [warm, CosineAnnealingLR(opt, T_max=steps - 8)], milestones=[8])

    for epoch in range(EPOCHS):
        net.train()
        total = 0.0
        for x, y in train_dl:
            x, ya, yb, lam = mixup(x, y)
            out = net(x)
            loss = lam * F.cross_entropy(out, ya) + (1 - lam) * F.cross_entropy(out, yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            ema.update(net)
            total += loss.item() * len(x)
        acc, val_loss = accuracy_and_loss(ema.module, val_dl)
        print(f"epoch {epoch}: mixed loss {total / 640:.3f}  ema val loss {val_loss:.3f}  ema acc {acc:.3f}")


if __name__ == "__main__":
    main()
