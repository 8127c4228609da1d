import argparse

import torch
import torch.nn.functional as F
from shapes import CLASSES, Shapes
from torch import nn
from torch.utils.data import DataLoader


def parse_args():
    p = argparse.ArgumentParser(description="Train a small CNN on drawn shapes")
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--max-lr", type=float, default=4e-3)
    p.add_argument("--weight-decay", type=float, default=0.01)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--device", default="cpu")
    return p.parse_args()


def conv_block(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1, bias=False),
        nn.BatchNorm2d(cout),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
    )


class ShapeNet(nn.Module):
    def __init__(self, n_classes):
        super().__init__()
        self.features = nn.Sequential(conv_block(1, 12), conv_block(12, 24))
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(24 * 4 * 4, n_classes)

    def forward(self, x):
        x = self.features(x).flatten(1)
        return self.fc(self.drop(x))


def param_groups(model, weight_decay):
    decay, no_decay = [], []
    for p in model.parameters():
        (decay if p.ndim > 1 else no_decay).append(p)
    return [{"params": decay, "weight_decay": weight_decay}, {"params": no_decay, "weight_decay": 0.0}]


def train_epoch(model, loader, opt, sched, device):
    model.train()
    total, seen = 0.0, 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        total += loss.item() * len(y)
        seen += len(y)
    return total / seen


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    total, hits, seen = 0.0, 0, 0
    for x, y in loader:
        x, y = x.to(device), y.to(device)
        logits = model(x)
        total += F.cross_entropy(logits, y, reduction="sum").item()
        hits += (logits.argmax(1) == y).sum().item()
        seen += len(y)
    return total / seen, hits / seen


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    train_ds = Shapes(480, seed=args.seed, train=True)
    val_ds = Shapes(150, seed=args.seed + 1, train=False)
    train_loader = DataLoader(train_ds, batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(val_ds, batch_size=64, shuffle=False)

    model = ShapeNet(len(CLASSES)).to(args.device)
    opt = torch.optim.AdamW(param_groups(model, args.weight_decay), lr=args.max_lr)
    sched = torch.optim.lr_scheduler.OneCycleLR(
        opt, max_lr=args.max_lr, epochs=args.epochs, steps_per_epoch=len(train_loader)
    )
    for epoch in range(1, args.epochs + 1):
        train_loss = train_epoch(model, train_loader, opt, sched, args.device)
        val_loss, acc = evaluate(model, val_loader, args.device)
        print(f"[{epoch}/{args.epochs}] train={train_loss:.4f} val={val_loss:.4f} acc={acc:.1%}")


if __name__ == "__main__":
    main()
