"""Cells that are not the network: training steps, losses around it, casts, optimizers."""

from __future__ import annotations

from typing import Any

from mindspore import nn
from mindspore.experimental.optim.optimizer import Optimizer as ExperimentalOptimizer

OPTIMIZERS = (nn.Optimizer, ExperimentalOptimizer)

_INNER = {
    "DistributedDataParallel": "module",
    "ForwardValueAndGrad": "network",
    "GradAccumulationCell": "network",
    "MicroBatchInterleaved": "network",
    "PipelineCell": "network",
    "TrainOneStepCell": "network",
    "VirtualDatasetCellTriple": "_backbone",
    "WithEvalCell": "_network",
    "WithGradCell": "network",
    "WithLossCell": "_backbone",
    "_DataWrapper": "network",
    "_OutputTo16": "_backbone",
    "_OutputTo32": "_backbone",
    "_VirtualDatasetCell": "_backbone",
}
_NAMES_OF_NETWORKS = ("network", "net", "model", "backbone", "_backbone", "_network")


def optimizer_in(cell: Any) -> Any:
    """The optimizer that a training cell holds, None for any other cell."""
    return next((one for one in cell._cells.values() if isinstance(one, OPTIMIZERS)), None)


def inner_name(cell: Any) -> str | None:
    """The attribute that holds the network in a cell that only wraps it."""
    for kind in type(cell).__mro__:
        name = _INNER.get(kind.__name__)
        if name is not None and name in cell._cells and kind.__module__.startswith("mindspore."):
            return name
    if optimizer_in(cell) is not None:
        return next((name for name in _NAMES_OF_NETWORKS if name in cell._cells), None)
    return None


def unwrap(module: Any) -> Any:
    """The network inside a wrapper, else the cell itself."""
    while isinstance(module, nn.Cell):
        name = inner_name(module)
        if name is None:
            return module
        module = module._cells[name]
    return module
