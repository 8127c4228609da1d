"""Fine-tune a small text encoder on a new topic taxonomy."""
import argparse
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class MeanEncoder(nn.Module):
    def __init__(self, vocab=200, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim, padding_idx=0)
        self.proj = nn.Sequential(nn.Linear(dim, dim), nn.Tanh())

    def forward(self, ids):
        mask = (ids > 0).unsqueeze(-1).float()
        x = self.embed(ids) * mask
        return self.proj(x.sum(1) / mask.sum(1).clamp(min=1))


class TopicClassifier(nn.Module):
    def __init__(self, num_labels=2):
        super().__init__()
        self.encoder = MeanEncoder()
        self.classifier = nn.Linear(32, num_labels)

    def resize_labels(self, num_labels):
        old = self.classifier
        self.classifier = nn.Linear(old.in_features, num_labels)
        nn.init.normal_(self.classifier.weight, std=0.02)
        nn.init.zeros_(self.classifier.bias)

    def forward(self, ids):
        return self.classifier(self.encoder(ids))


def make_corpus(n=512, length=12, labels=5, vocab=200):
    g = torch.Generator().manual_seed(11)
    y = torch.randint(0, labels, (n,), generator=g)
    ids = torch.randint(1, vocab, (n, length), generator=g)
    topical = y.unsqueeze(1) * 20 + torch.randint(1, 20, (n, length), generator=g)
    pick = torch.rand(n, length, generator=g) < 0.4
    return torch.where(pick, topical, ids), y


class Trainer:
    def __init__(self, model, args):
        self.model = model
        self.args = args
        no_decay = ("bias",)
        named = list(model.named_parameters())
        groups = [
            {"params": [p for n, p in named if not n.endswith(no_decay)], "weight_decay": 0.01},
            {"params": [p for n, p in named if n.endswith(no_decay)], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=args.lr)
        self.criterion = nn.CrossEntropyLoss()

    def fit(self, loader, num_labels):
        if self.model.classifier.out_features != num_labels:
            self.model.resize_labels(num_labels)
        for epoch in range(self.args.epochs):
            total, seen = 0.0, 0
            for ids, y in loader:
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(ids), y)
                loss.backward()
                self.optimizer.step()
                total += loss.item() * len(y)
                seen += len(y)
            print(f"epoch {epoch} loss {total / seen:.4f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    random.seed(0)
    torch.manual_seed(0)
    ids, y = make_corpus()
    loader = DataLoader(TensorDataset(ids, y), batch_size=32, shuffle=True)
    Trainer(TopicClassifier(), args).fit(loader, num_labels=5)


if __name__ == "__main__":
    main()
