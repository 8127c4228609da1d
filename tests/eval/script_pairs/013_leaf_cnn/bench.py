"""Plant leaf classification, AlexNet-like CNN."""
import argparse

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--classes", type=int, default=6)
    ap.add_argument("--size", type=int, default=16)
    ap.add_argument("--batch", type=int, default=24)
    ap.add_argument("--lr", type=float, default=0.02)
    ap.add_argument("--epochs", type=int, default=3)
    return ap.parse_args()


def leaves(n, args, seed):
    rng = np.random.RandomState(seed)
    proto = np.random.RandomState(77).uniform(0, 1, (args.classes, 3, args.size, args.size))
    y = rng.randint(0, args.classes, n)
    x = np.clip(proto[y] + 0.3 * rng.standard_normal((n, 3, args.size, args.size)), 0, 1)
    return ((x - 0.5) / 0.25).astype(np.float32), y.astype(np.int64)


def make_net(classes, size):
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * (size // 4) ** 2, 64),
        nn.ReLU(),
        nn.Linear(64, classes),
    )


def main():
    args = parse()
    torch.manual_seed(2)
    xs, ys = leaves(240, args, 0)
    xv, yv = leaves(60, args, 1)
    loader = DataLoader(
        TensorDataset(torch.from_numpy(xs), torch.from_numpy(ys)), batch_size=args.batch, shuffle=True, drop_last=True
    )
    net = make_net(args.classes, args.size)
    loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)
    opt = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        net.train()
        seen, summed = 0, 0.0
        for x, y in loader:
            opt.zero_grad()
            loss = loss_fn(net(x), y)
            loss.backward()
            opt.step()
            seen += len(x)
            summed += loss.item() * len(x)
        net.eval()
        with torch.no_grad():
            acc = (net(torch.from_numpy(xv)).argmax(1).numpy() == yv).mean()
        print(f"epoch {epoch}: loss {summed / seen:.4f}, val acc {acc:.4f}")


if __name__ == "__main__":
    main()
