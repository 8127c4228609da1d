"""The same torch weights as people save them: bare, wrapped, nested, beside an optimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def bare(net: nn.Module) -> dict[str, Any]:
    """The state itself."""
    return net.state_dict()


def data_parallel(net: nn.Module) -> dict[str, Any]:
    """Every name begins with `module.`."""
    return nn.DataParallel(net).state_dict()


def compiled(net: nn.Module) -> dict[str, Any]:
    """Every name begins with `_orig_mod.`, as after torch.compile."""
    return {f"_orig_mod.{name}": tensor for name, tensor in net.state_dict().items()}


def under_model(net: nn.Module) -> dict[str, Any]:
    """The state under `model`, the run's settings beside it."""
    return {"model": net.state_dict(), "epoch": 3, "args": {"lr": 0.1, "name": "run", "milestones": [30, 60]}}


def training(net: nn.Module) -> dict[str, Any]:
    """A training's checkpoint: the state under `state_dict`, an optimizer that has stepped, a scheduler, numbers."""
    optimizer, scheduler = _stepped(net)
    return {
        "epoch": 3,
        "arch": "net",
        "state_dict": net.state_dict(),
        "best_acc1": torch.tensor(71.5),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
    }


def training_data_parallel(net: nn.Module) -> dict[str, Any]:
    """The same with `module.` before every name."""
    return {**training(net), "state_dict": data_parallel(net)}


def _stepped(net: nn.Module) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    """An optimizer with full state; a step of length zero leaves the weights as they are."""
    optimizer = torch.optim.Adam(net.parameters(), lr=0.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)
    for parameter in net.parameters():
        parameter.grad = torch.full_like(parameter, 0.5)
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad(set_to_none=True)
    return optimizer, scheduler


CHECKPOINTS: dict[str, Callable[[nn.Module], dict[str, Any]]] = {
    one.__name__: one for one in (bare, data_parallel, compiled, under_model, training, training_data_parallel)
}
