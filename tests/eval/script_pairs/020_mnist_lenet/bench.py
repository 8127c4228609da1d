"""MNIST-like digits with a LeNet; PyTorch."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def build_parser():
    p = argparse.ArgumentParser("LeNet")
    p.add_argument("--batch-size", type=int, default=64, help="training batch")
    p.add_argument("--test-batch-size", type=int, default=100)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--seed", type=int, default=1)
    return p


class Digits(Dataset):
    def __init__(self, train):
        n = 384 if train else 200
        rng = np.random.RandomState(0 if train else 1)
        self.label = rng.randint(0, 10, n)
        strokes = np.random.RandomState(5).uniform(size=(10, 28, 28)) < 0.15
        noise = rng.randint(0, 60, (n, 28, 28))
        self.image = (strokes[self.label] * 180 + noise).astype(np.uint8)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        x = self.image[i].astype(np.float32) / 255.0
        x = (x - 0.1307) / 0.3081
        return x[None], int(self.label[i])


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 4 * 4, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc2(F.relu(self.fc1(x)))


def train(model, loader, optimizer):
    model.train()
    for data, target in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
    return loss.item()


def test(model, loader):
    model.eval()
    loss, correct = 0.0, 0
    with torch.no_grad():
        for data, target in loader:
            out = model(data)
            loss += F.cross_entropy(out, target, reduction="sum").item()
            correct += out.argmax(dim=1).eq(target).sum().item()
    n = len(loader.dataset)
    return loss / n, correct / n


def main():
    args = build_parser().parse_args()
    torch.manual_seed(args.seed)
    train_loader = DataLoader(Digits(True), batch_size=args.batch_size, shuffle=True)
    test_loader = DataLoader(Digits(False), batch_size=args.test_batch_size)
    model = LeNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.5)
    for epoch in range(1, args.epochs + 1):
        last = train(model, train_loader, optimizer)
        test_loss, acc = test(model, test_loader)
        print(f"Epoch {epoch}: train {last:.4f} test {test_loss:.4f} acc {acc:.4f}")


if __name__ == "__main__":
    main()
