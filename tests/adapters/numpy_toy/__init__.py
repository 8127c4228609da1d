"""A tiny framework and its adapter: the smallest folder that satisfies the protocol."""

from __future__ import annotations

from types import ModuleType
from typing import Final

from adapters.numpy_toy import (
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


class NumpyToyAdapter:
    """The toy's folder as one object."""

    name: Final = "numpy_toy"
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
    rates: Final[ModuleType] = rates
    batching: Final[ModuleType] = batching
    loss_scale: Final[ModuleType] = loss_scale


ADAPTER = NumpyToyAdapter()
