"""PyTorch."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from trueline.adapters.torch import (
    autograd,
    batching,
    build,
    compiling,
    hooks,
    intercept,
    loss_scale,
    ops,
    perturb,
    rates,
    replaying,
    state,
    steady,
    streams,
    values,
)


class TorchAdapter:
    """The PyTorch adapter as one object."""

    name: Final = "torch"
    values: Final[ModuleType] = values
    hooks: Final[ModuleType] = hooks
    ops: Final[ModuleType] = ops
    state: Final[ModuleType] = state
    build: Final[ModuleType] = build
    perturb: Final[ModuleType] = perturb
    autograd: Final[ModuleType] = autograd
    intercept: Final[ModuleType] = intercept
    steady: Final[ModuleType] = steady
    compiling: Final[ModuleType] = compiling
    streams: Final[ModuleType] = streams
    replaying: Final[ModuleType] = replaying
    batching: Final[ModuleType] = batching
    loss_scale: Final[ModuleType] = loss_scale
    rates: Final[ModuleType] = rates


ADAPTER = TorchAdapter()
