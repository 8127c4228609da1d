"""A run whose every rounding could as well have gone the other way.

MindSpore's kernels on the CPU sum in one order only, whatever the number of threads: what moves is values.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import mindspore as ms
import ml_dtypes
import numpy as np
from mindspore import context, nn

from trueline.adapters.mindspore import values
from trueline.adapters.mindspore.internals import JitExecutor
from trueline.adapters.mindspore.wrappers import OPTIMIZERS, inner_name
from trueline.adapters.nouns import Foreign, Function, Network, Value
from trueline.adapters.perturbation import Calls, Perturbing
from trueline.adapters.protocol import Installed

_MOVED = (ms.float32, ms.float64, ms.float16, ms.bfloat16)


class _Perturbing(Perturbing):
    def __init__(self, seed: int, ulps: int) -> None:
        super().__init__(seed, ulps)
        self.calls = Calls()
        self.inside = 0

    def moved(self, value: Value) -> Value:
        if not isinstance(value, ms.Tensor) or isinstance(value, ms.Parameter) or value.dtype not in _MOVED:
            return value
        if not value.size:
            return value
        array = values.to_numpy(value)
        signs = self.draws.signs(array.size).reshape(array.shape)
        factors = (1 + signs * self.draws.size(float(ml_dtypes.finfo(array.dtype).eps))).astype(array.dtype)
        factors = np.where(array == np.trunc(array), np.ones((), array.dtype), factors)
        return value * values.from_numpy(factors, like=value)


def install(seed: int, hooks: Callable[[], Installed], *, ulps: int = 1) -> _Perturbing:
    """Install the hooks, and a perturbation between them and the network."""
    perturbing = _Perturbing(seed, ulps)
    perturbing.patches.wrap(nn.Cell, "__call__", lambda original: _calls(perturbing, original))
    perturbing.patches.wrap(JitExecutor, "__call__", lambda original: _graphs(perturbing, original))
    perturbing.hooks = hooks()
    return perturbing


def _graph_mode() -> bool:
    return bool(context.get_context("mode") == ms.GRAPH_MODE) and os.environ.get("MS_JIT") != "0"


def _calls(perturbing: _Perturbing, original: Function) -> Function:
    def call(cell: Network, *args: object, **kwargs: object) -> Value:
        if not perturbing.switch.on or perturbing.inside:
            return original(cell, *args, **kwargs)
        if isinstance(cell, OPTIMIZERS):
            return _as_one(perturbing, original, cell, args, kwargs)
        if _graph_mode():
            return _as_one(perturbing, original, cell, perturbing.input(args), perturbing.input(kwargs))
        if inner_name(cell) is not None:
            # A wrapper is not the network: that is the cell it calls.
            return original(cell, *args, **kwargs)
        if perturbing.calls.begins(cell) and any(True for _ in values.tensors(cell)):
            args, kwargs = perturbing.input(args), perturbing.input(kwargs)
        calls_no_other = False
        try:
            output = original(cell, *args, **kwargs)
        finally:
            calls_no_other = perturbing.calls.ends(cell)
        return perturbing.output(output) if calls_no_other else output

    return call


def _graphs(perturbing: _Perturbing, original: Function) -> Function:
    """Compiled functions that the user calls, and gradients of them; the framework's own are left alone."""

    def call(executor: Foreign, *args: object, **kwargs: object) -> Value:
        function = executor.fn
        own = str(function.__module__).startswith("mindspore.") and "grad_" not in function.__code__.co_freevars
        if not perturbing.switch.on or perturbing.inside or perturbing.calls.going_on or own:
            return original(executor, *args, **kwargs)
        return _as_one(perturbing, original, executor, perturbing.input(args), perturbing.input(kwargs))

    return call


def _as_one(perturbing: _Perturbing, original: Function, owner: Foreign, args: Value, kwargs: Value) -> Value:
    """Call without perturbing anything inside."""
    perturbing.inside += 1
    try:
        return original(owner, *args, **kwargs)
    finally:
        perturbing.inside -= 1
