"""Logistic regression with a penalty on digits by stochastic gradient descent; a schedule halves the rate."""

import sys
from pathlib import Path

import torch
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, str(Path(__file__).parent.parent))
import problem

INPUTS, LABELS = (torch.from_numpy(one) for one in problem.digits())
LABELS = LABELS.long()


def train(rate: float, steps: int, scheduled: bool, seed: int) -> list[float]:
    torch.manual_seed(seed)
    model = torch.nn.Linear(64, 10)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 60, 0.5 if scheduled else 1.0)
    loader = DataLoader(TensorDataset(INPUTS, LABELS), batch_size=64, shuffle=True, drop_last=True)
    losses: list[float] = []
    while len(losses) < steps:
        for inputs, labels in loader:
            loss = functional.cross_entropy(model(inputs), labels) + problem.PENALTY / 2 * (model.weight**2).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
            if len(losses) == steps:
                break
    return losses


if __name__ == "__main__":
    problem.main(0.1, train)
