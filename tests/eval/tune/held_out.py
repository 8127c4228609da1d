"""Problems that were looked at only to check the rules for bounds, all on digits in PyTorch but for one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn, optim
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).parent))
import problem

INPUTS, LABELS = (torch.from_numpy(one) for one in problem.digits())
LABELS = LABELS.long()


class Recurrent(nn.Module):
    """An LSTM over the rows of a picture."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = nn.LSTM(8, 32, batch_first=True)
        self.last = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> Any:
        """The logits."""
        return self.last(self.rows(x.view(-1, 8, 8))[0][:, -1])


class Attending(nn.Module):
    """A transformer over the rows of a picture."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 32)
        self.place = nn.Parameter(torch.randn(8, 32) * 0.02)
        layer = nn.TransformerEncoderLayer(32, 4, 64, 0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.last = nn.Linear(32, 10)

    def forward(self, x: torch.Tensor) -> Any:
        """The logits."""
        return self.last(self.layers(self.first(x.view(-1, 8, 8)) + self.place).mean(1))


def _small() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))


def _autoencoder() -> nn.Module:
    return nn.Sequential(nn.Linear(64, 128), nn.Tanh(), nn.Linear(128, 64), nn.Tanh(), nn.Linear(64, 64))


def _convolving() -> nn.Module:
    layers = [nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()]
    more = [nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten()]
    return nn.Sequential(*layers, *more, nn.Linear(64, 10))


def _regression() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(1280, 10, generator=generator)
    return inputs, inputs.sum(1, keepdim=True) + 0.1 * torch.randn(1280, 1, generator=generator)


# name: (its own rate, the network, the optimizer)
KINDS: dict[str, tuple[float, Callable[[], nn.Module], Callable[[Any, float], optim.Optimizer]]] = {
    "autoencoder": (1e-3, _autoencoder, lambda all, rate: optim.Adam(all, rate)),
    "batch_norm": (
        0.1,
        _convolving,
        lambda all, rate: optim.SGD(all, rate, momentum=0.9, nesterov=True, weight_decay=5e-4),
    ),
    "lstm": (1e-3, Recurrent, lambda all, rate: optim.Adam(all, rate)),
    "transformer": (1e-3, Attending, lambda all, rate: optim.AdamW(all, rate)),
    "regression": (0.05, lambda: nn.Linear(10, 1), lambda all, rate: optim.SGD(all, rate, momentum=0.9)),
    "rmsprop": (1e-3, _small, lambda all, rate: optim.RMSprop(all, rate)),
    "adagrad": (0.01, _small, lambda all, rate: optim.Adagrad(all, rate)),
    "sgd": (0.1, _small, lambda all, rate: optim.SGD(all, rate)),
}


def train(rate: float, steps: int, _scheduled: bool, seed: int) -> list[float]:
    """The losses of all steps."""
    torch.manual_seed(seed)
    _, make, optimizing = KINDS[KIND]
    model = make()
    optimizer = optimizing(model.parameters(), rate)
    inputs, wanted = _regression() if KIND == "regression" else (INPUTS, INPUTS if KIND == "autoencoder" else LABELS)
    loss_of = functional.cross_entropy if wanted is LABELS else functional.mse_loss
    losses = []
    for rows in problem.batches(len(inputs), 32, steps, seed):
        loss = loss_of(model(inputs[rows]), wanted[rows])
        optimizer.zero_grad()
        loss.backward()
        if KIND == "lstm":
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses


if __name__ == "__main__":
    KIND = sys.argv.pop(1)
    problem.main(KINDS[KIND][0], train)
