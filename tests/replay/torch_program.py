"""A training with everything that makes a step hard to repeat; each line it prints is a step's loss, bit for bit."""

import argparse
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    """Augmented by all three random generators, in workers or not."""

    def __init__(self):
        generator = torch.Generator().manual_seed(5)
        self.x = torch.randn(24, 3, 8, 8, generator=generator)
        self.y = torch.randint(0, 4, (24,), generator=generator)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        x = self.x[index]
        if random.random() < 0.5:
            x = x.flip(-1)
        return {"x": x + 0.01 * torch.randn(()) + 0.01 * float(np.random.randn()), "y": (self.y[index],)}


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)
        self.drop, self.last = nn.Dropout(0.3), nn.Linear(8, 4)
        self.seen = 0
        self.average = None

    def forward(self, x):
        if self.training:
            self.seen += 1
        x = torch.relu(self.norm(self.conv(x))).mean((2, 3))
        mean = x.detach().mean(0)
        self.average = mean if self.average is None else 0.9 * self.average + 0.1 * mean
        return self.last(self.drop(x - 0.1 * self.average)) / (1 + 0.01 * self.seen)


class Progress:
    """Counts, as programs do."""

    def __init__(self):
        self.done = 0

    def over(self, loader):
        for batch in loader:
            yield batch
            self.done += 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--optimizer", default="adam")
    parser.add_argument("--accumulate", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(1)
    random.seed(2)
    np.random.seed(3)
    noise, more_noise = np.random.default_rng(11), torch.Generator().manual_seed(12)
    network = Network()
    kinds = {
        "adam": lambda: torch.optim.Adam(network.parameters(), lr=0.02),
        "momentum": lambda: torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9, nesterov=True),
    }
    optimizer = kinds[options.optimizer]()
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.7)
    loader = DataLoader(Pictures(), 4, shuffle=True, num_workers=options.workers)
    held_out = DataLoader(Pictures(), 8)
    progress, total = Progress(), 0.0
    for epoch in range(3):
        network.train()
        for place, batch in enumerate(progress.over(loader)):
            x = batch["x"] + torch.from_numpy(noise.normal(0, 0.01, (1,)).astype(np.float32))
            x = x + 0.01 * torch.randn(1, generator=more_noise)
            loss = nn.functional.cross_entropy(network(x), batch["y"][0])
            loss = loss * (1 + 0.01 * progress.done + 0.1 * epoch) + 0.001 * total
            total += loss.item()
            loss.backward()
            if (place + 1) % options.accumulate == 0:
                optimizer.step()
                optimizer.zero_grad()
            print(loss.item().hex(), flush=True)
        network.eval()
        with torch.no_grad():
            for batch in held_out:
                network(batch["x"])
        schedule.step()


if __name__ == "__main__":
    main()
