"""Running a model as compiled: whether it is, and its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import torch

from trueline.adapters.nouns import Network, Passed
from trueline.adapters.torch import build, internals
from trueline.kernel.array import Array

_INNER: Final = f"{internals.COMPILED_INNER}."


def how(root: Network) -> str:
    """How the model or a part of it is compiled; empty where it is not."""
    compiled = any(map(internals.is_compiled, root.modules()))
    return "torch.compile" if compiled else ""


def run(root: Network, module: Network, inputs: Sequence[Array], *, gout: Sequence[Array] | None = None) -> Passed:
    """Forward pass of one module in evaluation mode, with ``gout`` also backward, compiled as the model is."""
    with build.modes_kept(module, train=False):
        passed = build.passed(module if how(module) else _compiled(root, module), inputs, gout)
    grads = {name.removeprefix(_INNER): gradient for name, gradient in passed.grads.items()}
    return Passed(passed.outputs, passed.gin, grads if not _is_compiled(module) else passed.grads)


def _is_compiled(module: Network) -> bool:
    return type(module).__name__ == internals.COMPILED


def _compiled(root: Network, module: Network) -> Network:
    above = next((part for part in root.modules() if _is_compiled(part)), None)
    return internals.compiled_alike(above, module) if above is not None else torch.compile(module)
