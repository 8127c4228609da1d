"""Tagger on fixed word vectors."""
from types import SimpleNamespace

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

cfg = SimpleNamespace(vocab=60, dim=24, hidden=32, tags=4, length=10, epochs=4,
                      batch=24, lr=0.02, max_grad_norm=0.25)


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(cfg.vocab, cfg.dim)
        self.encoder = nn.LSTM(cfg.dim, cfg.hidden, batch_first=True, bidirectional=True)
        self.emit = nn.Linear(2 * cfg.hidden, cfg.tags)

    def forward(self, ids):
        h, _ = self.encoder(self.embed(ids))
        return self.emit(h)


def corpus(n, seed):
    g = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, cfg.vocab, (n, cfg.length), generator=g)
    prev = torch.cat([ids[:, :1], ids[:, :-1]], dim=1)
    return ids, (ids % 2) * 2 + (prev % 2)


def evaluate(model, loader):
    model.eval()
    hit = total = 0
    with torch.no_grad():
        for ids, tags in loader:
            hit += (model(ids).argmax(-1) == tags).sum().item()
            total += tags.numel()
    model.train()
    return hit / total


def main():
    torch.manual_seed(6)
    model = Tagger()
    model.embed.weight.requires_grad_(False)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=cfg.lr)
    loss_fn = nn.CrossEntropyLoss()
    train = DataLoader(TensorDataset(*corpus(480, 1)), batch_size=cfg.batch, shuffle=True)
    dev = DataLoader(TensorDataset(*corpus(120, 2)), batch_size=60)

    for epoch in range(cfg.epochs):
        losses, norms = [], []
        for ids, tags in train:
            logits = model(ids)
            loss = loss_fn(logits.flatten(0, 1), tags.flatten())
            optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), cfg.max_grad_norm)
            optimizer.step()
            losses.append(loss.item())
            norms.append(float(norm))
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} dev {evaluate(model, dev):.3f}")


if __name__ == "__main__":
    main()
