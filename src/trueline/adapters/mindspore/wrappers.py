"""Cells that are not the network: training steps, loss wrappers, casts, optimizers."""

from __future__ import annotations

from mindspore import nn
from mindspore.experimental.optim import Optimizer as ExperimentalOptimizer

from trueline.adapters.mindspore.internals import NETWORK_NAMES, WRAPPERS, subcells
from trueline.adapters.nouns import Network, Optimizer

OPTIMIZERS = (nn.Optimizer, ExperimentalOptimizer)


def optimizer_in(cell: Network) -> Optimizer | None:
    """The optimizer held by a training cell; None for any other cell."""
    return next((part for part in subcells(cell).values() if isinstance(part, OPTIMIZERS)), None)


def inner_name(cell: Network) -> str | None:
    """The attribute that holds the network in a wrapper cell."""
    for kind in type(cell).__mro__:
        name = WRAPPERS.get(kind.__name__)
        if name is not None and name in subcells(cell) and kind.__module__.startswith("mindspore."):
            return name
    if optimizer_in(cell) is not None:
        return next((name for name in NETWORK_NAMES if name in subcells(cell)), None)
    return None


def unwrap(module: Network) -> Network:
    """The network inside a wrapper, else the cell itself."""
    while isinstance(module, nn.Cell):
        name = inner_name(module)
        if name is None:
            return module
        module = subcells(module)[name]
    return module
