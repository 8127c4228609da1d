"""Encoder training with warmup-linear rate and accumulated micro-batches."""
import argparse
import math

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset


def get_linear_schedule_with_warmup(optimizer, num_warmup_steps, num_training_steps):
    def lr_lambda(current):
        if current < num_warmup_steps:
            return (current + 1) / num_warmup_steps
        return max(0.0, (num_training_steps - current) / max(1, num_training_steps - num_warmup_steps))
    return LambdaLR(optimizer, lr_lambda)


class PairEncoder(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        layer = nn.TransformerEncoderLayer(dim, 4, 48, dropout=0.0, batch_first=True)
        self.inp = nn.Linear(6, dim)
        self.enc = nn.TransformerEncoder(layer, 1)
        self.out = nn.Linear(dim, 2)

    def forward(self, x):
        return self.out(self.enc(self.inp(x)).mean(1))


def sequences(n):
    g = torch.Generator().manual_seed(17)
    x = torch.randn(n, 8, 6, generator=g)
    y = (x[:, :, 0].mean(1) > x[:, :, 1].mean(1)).long()
    return TensorDataset(x, y)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--accum", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--lr", type=float, default=4e-3)
    args = parser.parse_args()

    torch.manual_seed(5)
    loader = DataLoader(sequences(512), batch_size=16, shuffle=True)
    model = PairEncoder()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    updates = args.epochs * math.ceil(len(loader) / args.accum)
    scheduler = get_linear_schedule_with_warmup(optimizer, updates // 8, updates)
    loss_fn = nn.CrossEntropyLoss()

    for epoch in range(args.epochs):
        total = 0.0
        for i, (x, y) in enumerate(loader):
            loss = loss_fn(model(x), y) / args.accum
            loss.backward()
            total += loss.item() * args.accum
            if (i + 1) % args.accum == 0:
                optimizer.step()
                optimizer.zero_grad()
            scheduler.step()
        print(f"epoch {epoch} loss {total / len(loader):.4f} lr {optimizer.param_groups[0]['lr']:.2e}")


if __name__ == "__main__":
    main()
