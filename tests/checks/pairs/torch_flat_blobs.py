"""flat_blobs in functions and a class: settings by argparse, layers as functions, a progress line, a device."""

import argparse
import logging
import time

import torch
import torch.nn.functional as F
from torch import nn, optim
from torch.utils import data

log = logging.getLogger(__name__)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    return parser.parse_args()


class Perceptron(nn.Module):
    def __init__(self, dim, hidden, classes, drop=0.1):
        super().__init__()
        self.first = nn.Linear(in_features=dim, out_features=hidden)
        self.second = nn.Linear(hidden, hidden, bias=True)
        self.head = nn.Linear(hidden, classes)
        self.drop = nn.Dropout(p=drop)

    def forward(self, inputs):
        hidden = self.drop(F.relu(self.first(inputs)))
        hidden = torch.relu(self.second(hidden))
        return self.head(hidden)


def blobs(classes=5, dim=12, total=1100):
    means = 1.1 * torch.randn(classes, dim)
    kinds = torch.arange(total) % classes
    rows = torch.randn(total, dim) + means[kinds]
    order = torch.randperm(len(rows))
    return rows[order], kinds[order]


def standardised(train, *others):
    mean, deviation = train.mean(0), train.std(0)
    return [(one - mean) / deviation for one in (train, *others)]


def loaders(args):
    rows, kinds = blobs()
    inputs, held = standardised(rows[:800], rows[800:])
    fitted = data.TensorDataset(inputs, kinds[:800])
    checked = data.TensorDataset(held, kinds[800:])
    return (
        data.DataLoader(fitted, args.batch_size, True, num_workers=args.workers),
        data.DataLoader(checked, batch_size=256, shuffle=False),
    )


@torch.no_grad()
def evaluate(model, loader, device):
    model.eval()
    total, right, seen = 0.0, 0, 0
    for inputs, targets in loader:
        inputs, targets = inputs.to(device), targets.to(device)
        scores = model(inputs)
        total += F.cross_entropy(scores, targets).item() * len(inputs)
        right += (scores.argmax(1) == targets).sum().item()
        seen += len(targets)
    return total / seen, right / seen


def train_epoch(model, loader, optimizer, loss_fn, device):
    model.train()
    for inputs, targets in loader:
        inputs, targets = inputs.to(device), targets.to(device)
        optimizer.zero_grad(set_to_none=True)
        loss = loss_fn(model(inputs), targets)
        loss.backward()
        optimizer.step()


def main():
    args = parse()
    torch.manual_seed(19)
    train_loader, val_loader = loaders(args)
    device = torch.device(args.device)
    model = Perceptron(12, 48, 5).to(device)
    optimizer = optim.SGD(params=model.parameters(), lr=args.lr, momentum=0.9, weight_decay=0)
    schedule = optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.3)
    for epoch in range(args.epochs):
        began = time.time()
        train_epoch(model, train_loader, optimizer, nn.CrossEntropyLoss(reduction="mean"), device)
        schedule.step()
        loss, accuracy = evaluate(model, val_loader, device)
        log.info("epoch %d: %.4f %.3f in %.1f s", epoch, loss, accuracy, time.time() - began)
    torch.save(model.state_dict(), "blobs.pt")


if __name__ == "__main__":
    main()
