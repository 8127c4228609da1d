"""A small network, trained for a few steps and recorded: always the same, but for what a test changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import trueline
from trueline.formats.run_folder.reader import Run, open_run

STEPS = 6


class Net(nn.Module):
    """Convolution, norm, dropout and two linear layers."""

    def __init__(self, eps: float = 1e-5, width: int = 12, drop: float = 0.0) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4, eps=eps)
        self.drop = nn.Dropout(drop)
        self.fc1 = nn.Linear(4 * 36, width)
        self.fc2 = nn.Linear(width, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.drop(torch.relu(self.bn(self.conv(x))))
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


def train(
    folder: Path,
    *,
    steps: int = STEPS,
    model_seed: int = 0,
    data_seed: int = 0,
    shuffle_seed: int = 0,
    scale: float = 1.0,
    lr: float = 0.1,
    drop_lr_at: int | None = None,
    weight_decay: float = 0.0,
    optimizer: str = "SGD",
    dtype: torch.dtype = torch.float32,
    grad_scale: float = 1.0,
    channels_last: bool = False,
    poison_from: int | None = None,
    label_shift: int = 0,
    record: dict[str, Any] | None = None,
    **net: Any,
) -> Run:
    """Train and record into ``folder``."""
    torch.manual_seed(model_seed)
    random = np.random.RandomState(data_seed)
    images = torch.from_numpy(random.randn(48, 1, 6, 6).astype(np.float32)) * scale
    labels = torch.from_numpy((random.randint(0, 3, 48) + label_shift) % 3)
    options = {"tensors": True, "inputs": True, "grads": True, "weights": True} if record is None else record
    with trueline.record(folder, **options):
        model = Net(**net).to(dtype)
        if channels_last:
            model = model.to(memory_format=torch.channels_last)
        tuned = getattr(torch.optim, optimizer)(model.parameters(), lr=lr, weight_decay=weight_decay)
        order = np.random.RandomState(shuffle_seed).permutation(48)
        loader = torch.utils.data.DataLoader(
            torch.utils.data.TensorDataset(images.to(dtype), labels), batch_size=8, sampler=order.tolist()
        )
        for step, (x, y) in zip(range(steps), _forever(loader), strict=False):
            if step == drop_lr_at:
                tuned.param_groups[0]["lr"] /= 10
            if poison_from is not None and step >= poison_from:
                x = x * float("nan")
            tuned.zero_grad()
            if channels_last:
                x = x.to(memory_format=torch.channels_last)
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            if grad_scale != 1.0:
                model.fc2.weight.grad.mul_(grad_scale)
            tuned.step()
    return open_run(folder)


def _forever(loader: Any) -> Any:
    while True:
        yield from loader
