"""Sentence classifier with one self-attention block and padded batches."""

import math

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sentences(Dataset):
    def __init__(self, n=56, longest=9, vocab=40):
        g = torch.Generator().manual_seed(11)
        self.tokens = torch.randint(1, vocab, (n, longest), generator=g)
        self.lengths = torch.randint(2, longest + 1, (n,), generator=g)
        self.lengths[30] = 0  # a line that was only white space
        self.labels = torch.randint(0, 3, (n,), generator=g)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.tokens[i], self.lengths[i], self.labels[i]


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)
        scores = scores.masked_fill(~mask[:, None, None, :], float("-inf"))
        attn = torch.softmax(scores, dim=-1)
        return self.out((attn @ v).transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.attn = SelfAttention(dim, 2)

    def forward(self, x, mask):
        return x + self.attn(self.norm(x), mask)


class TextNet(nn.Module):
    def __init__(self, vocab=40, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.block = Block(dim)
        self.fc = nn.Linear(dim, 3)

    def forward(self, tokens, lengths):
        mask = torch.arange(tokens.shape[1])[None, :] < lengths[:, None]
        x = self.block(self.embed(tokens), mask)
        return self.fc(x.mean(dim=1))


def main():
    torch.manual_seed(0)
    model = TextNet()
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    loss_fn = nn.CrossEntropyLoss()
    for step, (tokens, lengths, labels) in enumerate(DataLoader(Sentences(), batch_size=7)):
        loss = loss_fn(model(tokens, lengths), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print("step", step, "loss", loss.item())


if __name__ == "__main__":
    main()
