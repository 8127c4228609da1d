"""Monotonic alignment loss with a hand-written forward recursion in log space."""

import torch
from torch import nn

NEG = float("-inf")


def log_add(a, b):
    top = torch.maximum(a, b)
    return top + torch.log(torch.exp(a - top) + torch.exp(b - top))


class Aligner(nn.Module):
    """alpha[s] = log P(first s+1 symbols seen so far); a frame stays or moves by one."""

    def forward(self, logp, symbols):
        first = logp[:1, symbols[0]]
        alpha = torch.cat([first, torch.full((len(symbols) - 1,), NEG)])
        for t in range(1, logp.shape[0]):
            emit = logp[t, symbols]
            width = min(2 * t, len(symbols))
            moved = torch.cat([torch.tensor([NEG]), alpha[: width - 1]])
            alpha = torch.cat([log_add(alpha[:width], moved) + emit[:width], alpha[width:]])
        return -alpha[-1]


class Acoustic(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(6, 16, batch_first=True)
        self.proj = nn.Linear(16, 5)

    def forward(self, x):
        return self.proj(self.rnn(x)[0]).log_softmax(-1)


def utterances(n=8):
    g = torch.Generator().manual_seed(3)
    for i in range(n):
        frames = torch.randn(1, 7, 6, generator=g)
        symbols = torch.randint(0, 5, (5 if i == 5 else 3,), generator=g)
        yield frames, symbols


def main():
    torch.manual_seed(0)
    net, align = Acoustic(), Aligner()
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for step, (frames, symbols) in enumerate(utterances()):
        loss = align(net(frames)[0], symbols)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
