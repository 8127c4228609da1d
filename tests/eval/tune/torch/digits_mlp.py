"""A small network on digits by Adam, its last layer at a tenth of the rate; prints the accuracy of every batch."""

import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).parent.parent))
import problem

INPUTS, LABELS = (torch.from_numpy(one) for one in problem.digits())
LABELS = LABELS.long()


def train(rate: float, steps: int, _scheduled: bool, seed: int) -> list[float]:
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    groups = [{"params": model[:4].parameters()}, {"params": model[4].parameters(), "lr": rate / 10}]
    optimizer = torch.optim.Adam(groups, lr=rate)
    losses = []
    for step, rows in enumerate(problem.batches(len(INPUTS), 64, steps, seed)):
        inputs, labels = INPUTS[rows], LABELS[rows]
        logits = model(inputs)
        loss = functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        accuracy = (logits.argmax(1) == labels).float().mean().item()
        losses.append(loss.item())
        print(f"step {step} loss {losses[-1]:.4f} acc {accuracy:.4f}", file=sys.stderr)
    return losses


if __name__ == "__main__":
    problem.main(0.003, train)
