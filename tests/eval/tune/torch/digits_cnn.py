"""A small convolutional network on digits by momentum, the gradients of two batches for each update."""

import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).parent.parent))
import problem

INPUTS, LABELS = (torch.from_numpy(one) for one in problem.digits())
INPUTS, LABELS = INPUTS.view(-1, 1, 8, 8), LABELS.long()


def train(rate: float, steps: int, _scheduled: bool, seed: int) -> list[float]:
    torch.manual_seed(seed)
    model = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 16, 10)
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    losses = []
    for number, rows in enumerate(problem.batches(len(INPUTS), 32, 2 * steps, seed)):
        loss = functional.cross_entropy(model(INPUTS[rows]), LABELS[rows])
        (loss / 2).backward()
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    return losses


if __name__ == "__main__":
    problem.main(0.02, train)
