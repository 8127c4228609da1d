"""Distil a wide keyword classifier into a narrow one.

Inputs look like small log-mel pictures (10 frames x 8 bands), already centred.
"""

from functools import partial

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

KEYWORDS = ("yes", "no", "stop", "go", "left")


def spectrograms(n, seed, templates):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(len(KEYWORDS), (n,), generator=g)
    x = templates[y]
    shift = torch.randint(-1, 2, (n,), generator=g)
    x = torch.stack([torch.roll(row, int(s), dims=0) for row, s in zip(x, shift)])
    return TensorDataset(x + 1.1 * torch.randn(x.shape, generator=g), y)


class Net(nn.Module):
    def __init__(self, width, p_drop):
        super().__init__()
        self.conv = nn.Conv1d(8, width, 3, padding=1)
        self.fc1 = nn.Linear(width * 5, width)
        self.drop = nn.Dropout(p_drop)
        self.fc2 = nn.Linear(width, len(KEYWORDS))

    def forward(self, x):
        h = F.relu(self.conv(x.transpose(1, 2)))
        h = F.max_pool1d(h, 2).flatten(1)
        return self.fc2(self.drop(F.relu(self.fc1(h))))


def plain_loss(model, x, y):
    return F.cross_entropy(model(x), y)


def distillation_loss(model, x, y, teacher, temperature, alpha):
    with torch.no_grad():
        soft = F.softmax(teacher(x) / temperature, dim=1)
    logits = model(x)
    kd = F.kl_div(F.log_softmax(logits / temperature, dim=1), soft, reduction="batchmean")
    return alpha * temperature**2 * kd + (1 - alpha) * F.cross_entropy(logits, y)


def fit(name, model, loss_fn, train_dl, dev_dl, epochs, lr):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        model.train()
        s = n = 0
        for x, y in train_dl:
            loss = loss_fn(model, x, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            s, n = s + loss.item() * len(y), n + len(y)
        dev_loss, dev_acc = dev_scores(model, dev_dl)
        print(f"{name} {epoch}: objective {s / n:.3f}  dev loss {dev_loss:.3f}  dev acc {dev_acc:.3f}")
    return model


@torch.no_grad()
def dev_scores(model, loader):
    model.eval()
    s = hit = n = 0
    for x, y in loader:
        out = model(x)
        s += F.cross_entropy(out, y, reduction="sum").item()
        hit += (out.argmax(1) == y).sum().item()
        n += len(y)
    return s / n, hit / n


def main():
    torch.manual_seed(64)
    templates = torch.randn(len(KEYWORDS), 10, 8, generator=torch.Generator().manual_seed(64)) * 0.6
    train_dl = DataLoader(spectrograms(800, 1, templates), batch_size=32, shuffle=True)
    dev_dl = DataLoader(spectrograms(240, 2, templates), batch_size=120)

    teacher = fit("teacher", Net(48, 0.3), plain_loss, train_dl, dev_dl, epochs=2, lr=2e-3)
    teacher.eval().requires_grad_(False)

    objective = partial(distillation_loss, teacher=teacher, temperature=2.0, alpha=0.6)
    fit("student", Net(12, 0.0), objective, train_dl, dev_dl, epochs=3, lr=3e-3)


if __name__ == "__main__":
    main()
