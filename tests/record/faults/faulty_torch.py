"""The training in PyTorch."""

import torch
from torch import nn

import __main__ as main

torch.manual_seed(0)
torch.set_num_threads(1)


class Part(nn.Module):
    def __init__(self, odd=None):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.odd = odd

    def forward(self, x, more=None):
        return torch.relu(self.inner(x))


class Expanding(nn.Module):
    def forward(self, x):
        return torch.zeros(()).expand(2**30)


class Large(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.zeros(10 << 20))

    def forward(self, x):
        return self.table


class Nested(nn.Module):
    def __init__(self, levels):
        super().__init__()
        self.inner = Nested(levels - 1) if levels else nn.Linear(4, 4)

    def forward(self, x):
        return self.inner(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(8, 4), nn.Linear(4, 2)
        self.part = Part(main.Raises() if main.FAULT == "objects" else None)
        self.more = {"expanded": Expanding, "memory": Large}.get(main.FAULT, nn.Identity)()
        # Nearly as deep as it goes plainly.
        self.nested = Nested(240) if main.FAULT == "recursion" else nn.Identity()
        if main.FAULT == "buffers":
            self.part._buffers[0] = torch.zeros(1)

    def forward(self, x):
        self.more(x)
        x = self.part(self.first(x), more=main.Raises() if main.FAULT == "objects" else None)
        return self.last(self.nested(x))


def train(net, told, before):
    draw = torch.Generator().manual_seed(1)
    x, y = torch.randn(16, 8, generator=draw), torch.randint(0, 2, (16,), generator=draw)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for step in range(main.STEPS):
        before(step)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        told(step, loss.detach())
    return main.digest(one.detach().numpy() for one in net.parameters())
