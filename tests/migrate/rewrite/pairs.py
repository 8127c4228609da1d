"""What the tests of drafts share: a table that calls what they use equal, drafts as modules, and torch's weights."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import mindspore
import numpy
import torch

from trueline.apitable.layers import layer_of_class
from trueline.apitable.pairs import Kind, Machine, Measured, Outcome, Table, documented
from trueline.migrate.rewrite.draft import Draft, rewrite
from trueline.script.project import open_project

FIXTURES = Path(__file__).parent / "fixtures"
_KINDS = (Kind.LAYER, Kind.LOSS, Kind.OPTIMIZER, Kind.SCHEDULE)


@cache
def table() -> Table:
    """Layers, losses, schedules and the optimizers of torch's formulas as equal; all else as not measured."""
    rows = {
        (pair.torch, pair.mindspore): Measured(pair.torch, pair.mindspore, Outcome.EQUAL)
        for pair in documented()
        if pair.kind in _KINDS and pair.style == "classic"
        if pair.kind is not Kind.OPTIMIZER or "experimental" in pair.mindspore
    }
    return Table(Machine(), rows)


def draft_of(path: Path) -> Draft:
    """The draft of one file."""
    (found,) = rewrite(open_project([path]), table=table())
    return found


def drafted(folder: Path, text: str) -> Draft:
    """The draft of a text."""
    path = folder / "script.py"
    path.write_text(text)
    return draft_of(path)


def load(path: Path, name: str) -> ModuleType:
    """A file as a module."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def both(folder: Path, stem: str) -> tuple[ModuleType, ModuleType]:
    """A fixture and its draft, imported."""
    draft = draft_of(FIXTURES / f"{stem}.py")
    path = folder / f"{stem}.py"
    path.write_text(draft.text)
    return load(FIXTURES / f"{stem}.py", f"bench_{stem}"), load(path, f"port_{stem}")


def give_weights(bench: torch.nn.Module, port: Any) -> None:
    """Move torch's weights away from their beginnings, and give them to the port by name."""
    weights: dict[str, torch.Tensor] = {}
    moved: set[int] = set()
    torch.manual_seed(1)
    for prefix, module in bench.named_modules():
        kinds = (layer_of_class(f"torch.nn.{base.__name__}") for base in type(module).__mro__)
        kind = next((known for known in kinds if known is not None), None)
        statistics = kind.statistics if kind is not None else ()
        held = [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]
        for name, tensor in held:
            if name == "num_batches_tracked" or tensor.data_ptr() in moved:
                continue
            moved.add(tensor.data_ptr())
            if isinstance(tensor, torch.nn.Parameter) or name in statistics:
                with torch.no_grad():
                    tensor.add_(0.1 * torch.rand_like(tensor))
            leaf = kind.leaves.get(name, name) if kind is not None else name
            weights[f"{prefix}.{leaf}".lstrip(".")] = tensor
    theirs = dict(port.parameters_and_names())
    buffers = dict(port.named_buffers())
    assert set(weights) == set(theirs) | set(buffers)
    for name, tensor in weights.items():
        if name in theirs:
            theirs[name].set_data(mindspore.Tensor(tensor.detach().numpy().reshape(theirs[name].shape)))
        else:
            numpy.testing.assert_allclose(tensor.numpy(), buffers[name].asnumpy(), atol=1e-4)


def distance(ours: Any, theirs: Any) -> float:
    """The largest difference relative to torch's largest value."""
    one, other = ours.detach().numpy(), theirs.asnumpy()
    assert one.shape == other.shape
    return float(numpy.abs(one - other).max() / numpy.abs(one).max())
