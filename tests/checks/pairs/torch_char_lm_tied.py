"""char_lm_tied in one file: attention and blocks under other names, the loop in a class, checkpoints and a log."""

import json
import math
import random
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

WHO = ["the cat", "a dog", "my aunt", "the old king", "one fox"]
DOES = ["sees", "likes", "paints", "carries"]
WHAT = ["a hill", "red shoes", "the moon", "nothing", "an apple"]


def sentences(count, seed):
    rng = random.Random(seed)
    return " ".join(f"{rng.choice(WHO)} {rng.choice(DOES)} {rng.choice(WHAT)}." for _ in range(count))


class Letters:
    def __init__(self, text):
        self.letters = sorted(set(text))
        self.place = {letter: at for at, letter in enumerate(self.letters)}

    def __len__(self):
        return len(self.letters)

    def encode(self, text):
        return torch.tensor([self.place[letter] for letter in text], dtype=torch.long)


class Windows(Dataset):
    def __init__(self, ids, size, step):
        self.ids, self.size, self.step = ids, size, step

    def __len__(self):
        return (len(self.ids) - self.size - 1) // self.step + 1

    def __getitem__(self, at):
        begin = at * self.step
        window = self.ids[begin : begin + self.size + 1]
        return window[:-1], window[1:]


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, time, width = x.shape
        q, k, v = (part.view(batch, time, self.heads, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, time, width))


class Layer(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.norm_a = nn.LayerNorm(width)
        self.norm_b = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = self.dropout(self.attention(self.norm_a(x))) + x
        return self.dropout(self.feed(self.norm_b(x))) + x


class Writer(nn.Module):
    def __init__(self, letters, size, width=32, heads=2, depth=2, dropout=0.05):
        super().__init__()
        self.embed = nn.Embedding(letters, width)
        self.place = nn.Parameter(torch.zeros(size, width))
        self.layers = nn.ModuleList(Layer(width, heads, dropout) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, letters, bias=False)
        self.apply(start)
        nn.init.normal_(self.place, std=0.02)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        x = self.embed(ids) * math.sqrt(self.embed.embedding_dim) + self.place[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def start(module):
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.08)
    if isinstance(module, nn.Linear) and module.bias is not None:
        nn.init.zeros_(module.bias)


def loss_of(scores, targets):
    return F.cross_entropy(scores.flatten(0, 1), targets.flatten())


class Training:
    def __init__(self, model, train, valid, epochs, rate, folder):
        self.model, self.train, self.valid, self.epochs, self.folder = model, train, valid, epochs, Path(folder)
        named = dict(model.named_parameters())
        decayed = [p for n, p in named.items() if p.dim() >= 2 and n != "place"]
        others = [p for n, p in named.items() if p.dim() < 2 or n == "place"]
        groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95))
        self.total = epochs * len(train)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, self.factor)
        self.history = []

    def factor(self, step, warmup=10):
        if step < warmup:
            return (step + 1) / warmup
        return 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, self.total - warmup)))

    def step(self, inputs, targets):
        self.optimizer.zero_grad(set_to_none=True)
        loss = loss_of(self.model(inputs), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.schedule.step()
        return loss.item()

    def validate(self):
        self.model.eval()
        total, count = 0.0, 0
        with torch.no_grad():
            for inputs, targets in self.valid:
                total += loss_of(self.model(inputs), targets).item() * targets.numel()
                count += targets.numel()
        self.model.train()
        return total / count

    def fit(self):
        self.model.train()
        for epoch in range(self.epochs):
            losses = [self.step(inputs, targets) for inputs, targets in self.train]
            self.history.append({"epoch": epoch, "loss": sum(losses) / len(losses), "valid": self.validate()})
            torch.save({"model": self.model.state_dict(), "epoch": epoch}, self.folder / "last.pt")
        (self.folder / "history.json").write_text(json.dumps(self.history))


def main():
    torch.manual_seed(3)
    text, other = sentences(220, 1), sentences(50, 2)
    letters = Letters(text)
    train = DataLoader(Windows(letters.encode(text), 32, step=16), 16, shuffle=True, drop_last=True)
    valid = DataLoader(Windows(letters.encode(other), 32, step=32), batch_size=64)
    model = Writer(len(letters), 32)
    Training(model, train, valid, epochs=3, rate=4e-3, folder=".").fit()


if __name__ == "__main__":
    main()
