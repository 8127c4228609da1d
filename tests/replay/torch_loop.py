"""A loop as people write them, with all that is hard to find again; each line it prints is a step, bit for bit."""

import copy
import warnings
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader

warnings.simplefilter("ignore")


@dataclass
class Batch:
    """Computes something when it is built."""

    x: torch.Tensor
    y: torch.Tensor

    def __post_init__(self):
        self.x = 2 * self.x
        self.mean = self.x.mean()


class Steps:
    """An iterator of the user's own, which leaves out what it does not like."""

    def __init__(self, loader):
        self.inner = iter(loader)

    def __iter__(self):
        return self

    def __next__(self):
        found = next(self.inner)
        return found if found.mean < 0.9 else next(self)


def together(rows):
    x, y = (torch.stack(one) for one in zip(*rows, strict=True))
    return Batch(x.contiguous(memory_format=torch.channels_last), y)


class Learner:
    def __init__(self):
        body = nn.Sequential(nn.Conv2d(4, 4, 3), nn.ReLU(), nn.Flatten(), nn.utils.spectral_norm(nn.Linear(16, 2)))
        self.networks = [body, copy.deepcopy(body)]
        self.slow = [copy.deepcopy(one) for one in self.networks]
        self.scale = torch.full((2,), 1.5, requires_grad=True)
        parameters = [one for network in self.networks for one in network.parameters()]
        self.optimizer = torch.optim.Adam([*parameters, self.scale], lr=0.01)
        self.schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, patience=0)
        self.best = None

    def loss(self, batch, other):
        both = zip(self.networks, self.slow, (batch, other), strict=True)
        apart = [(network(one.x) * self.scale - slow(one.x).detach() - one.y) for network, slow, one in both]
        return sum(one.pow(2).mean() for one in apart) + 0.1 * batch.mean

    def step(self, place, batch, other):
        loss = self.loss(batch, other) * (1 + 0.01 * place)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.best = loss.item() if self.best is None else min(loss.item(), self.best)
        for slow, network in zip(self.slow, self.networks, strict=True):
            for one, other_one in zip(slow.parameters(), network.parameters(), strict=True):
                one.data.lerp_(other_one.data, 0.1)
        return loss.item()


def main():
    torch.manual_seed(1)
    x, y = torch.randn(24, 4, 4, 4), torch.randn(24, 2)
    x[4] += 2
    data = list(zip(x, y, strict=True))
    loader = DataLoader(data, 2, shuffle=True, collate_fn=together)
    other = DataLoader(data, 2, shuffle=True, collate_fn=together)
    learner = Learner()
    for _ in range(2):
        for place, (one, two) in enumerate(zip(Steps(loader), map(copy.copy, other), strict=False), 1):
            loss = learner.step(place, one, two)
            print(loss.hex(), place, learner.best.hex(), one.x.stride(), flush=True)
        with torch.no_grad():
            learner.schedule.step(sum(learner.loss(one, one).item() for one in loader))
    with torch.no_grad():
        print(sum(learner.loss(one, one).item() for one in loader))


if __name__ == "__main__":
    main()
