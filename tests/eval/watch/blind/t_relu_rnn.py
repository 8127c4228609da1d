"""ReLU recurrent network on sequences of very different length."""

import torch
from torch import nn


class ReluCell(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.inp = nn.Linear(n_in, hidden)
        self.rec = nn.Linear(hidden, hidden, bias=False)
        nn.init.uniform_(self.rec.weight, 0.0, 0.5)

    def forward(self, x, h):
        pre = self.inp(x) + self.rec(h)
        return torch.relu(pre)


class SequenceNet(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.hidden = hidden
        self.cell = ReluCell(3, hidden)
        self.head = nn.Linear(hidden, 2)

    def forward(self, seq):
        h = torch.zeros(seq.shape[0], self.hidden)
        for t in range(seq.shape[1]):
            h = self.cell(seq[:, t], h)
        h = h / (1.0 + h.amax(dim=1, keepdim=True))
        return self.head(h)


def sequences():
    g = torch.Generator().manual_seed(6)
    for length in (5, 8, 6, 9, 7, 120, 6, 8):
        yield torch.randn(4, length, 3, generator=g), torch.randint(0, 2, (4,), generator=g)


def main():
    torch.manual_seed(1)
    net = SequenceNet()
    opt = torch.optim.SGD(net.parameters(), lr=1e-3)
    for step, (seq, label) in enumerate(sequences()):
        loss = nn.functional.cross_entropy(net(seq), label)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, seq.shape[1], loss.item())


if __name__ == "__main__":
    main()
