"""A run whose every rounding could as well have gone the other way."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from threading import local

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from trueline.adapters.nouns import Function, Value
from trueline.adapters.perturbation import Calls, Perturbing
from trueline.adapters.protocol import Installed
from trueline.adapters.torch import internals

_COMPILED_WARNING = r"Using `torch\.compile\(module\)` when there are global hooks"
_MOVED = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


class _Perturbing(Perturbing):
    def __init__(self, seed: int, ulps: int) -> None:
        super().__init__(seed, ulps)
        self._threads = local()
        self._began = False

    def quiet(self) -> bool:
        """Not while compiling, tracing or inside function transforms."""
        return (
            not self.switch.on or internals.tracing_state() is not None or internals.innermost_transform() is not None
        )

    @property
    def _calls(self) -> Calls:
        calls: Calls | None = getattr(self._threads, "calls", None)
        if calls is None:
            calls = self._threads.calls = Calls()
        return calls

    def begins(self, module: nn.Module) -> bool:
        """A call begins; returns whether its inputs are the network's."""
        if not self._began:
            self._began = True
            self._use_other_threads()
        # What a checkpoint computes again during backward is not the network being called.
        outermost = self._calls.begins(module) and internals.backward_pass() == -1
        return outermost and any(True for _ in module.parameters())

    def ends(self, module: nn.Module) -> bool:
        """A call ends; returns whether it was a leaf, and not a whole graph."""
        graph = type(module).__name__ == internals.COMPILED or isinstance(module, torch.jit.ScriptModule)
        return self._calls.ends(module) and not graph

    def _use_other_threads(self) -> None:
        # Only now has the script set its number of threads. Sums are split by threads, so one less changes the order
        # of summation; one more would wait for a core.
        threads = torch.get_num_threads()
        if threads > 1:
            torch.set_num_threads(threads - 1)
            self.patches.on_remove(lambda: torch.set_num_threads(threads))
            self.kernels.append(f"{threads - 1} threads")

    def moved(self, value: Value) -> Value:
        # A parameter stays itself, and so does what only looks like a tensor: sharded, nested, traced.
        if type(value) is not torch.Tensor or value.dtype not in _MOVED or value.layout is not torch.strided:
            return value
        if not value.numel() or value.device.type == "meta":
            return value
        with torch.no_grad():
            signs = torch.from_numpy(self.draws.signs(value.numel())).view(value.shape)
            factors = torch.empty_like(value).copy_(signs)
            factors.mul_(self.draws.size(torch.finfo(value.dtype).eps)).add_(1)
            factors.masked_fill_(value == value.trunc(), 1)
        return value * factors


def install(seed: int, hooks: Callable[[], Installed], *, ulps: int = 1) -> _Perturbing:
    """Install the hooks, and a perturbation between them and the network."""
    perturbing = _Perturbing(seed, ulps)
    patches = perturbing.patches

    def after(module: nn.Module, _args: object, *rest: Value) -> Value:
        if torch.compiler.is_compiling() or perturbing.quiet() or not perturbing.ends(module):
            return None
        return perturbing.output(rest[-1])

    def before(module: nn.Module, args: Value) -> Value:
        if torch.compiler.is_compiling() or perturbing.quiet() or not perturbing.begins(module):
            return None
        # torch hands no keyword arguments to global hooks, but the frame that calls this one has them.
        kwargs = sys._getframe(1).f_locals.get("kwargs")
        if kwargs:
            kwargs.update(perturbing.input(dict(kwargs)))
        return perturbing.input(tuple(args))

    patches.wrap(nn.Module, "compile", lambda original: _compiled(perturbing, original))
    # Outputs are moved before the hooks see them, and inputs after.
    patches.on_remove(register_module_forward_hook(after, with_kwargs=True, always_call=True).remove)
    perturbing.hooks = hooks()
    patches.on_remove(register_module_forward_pre_hook(before).remove)
    warnings.filterwarnings("ignore", message=_COMPILED_WARNING)
    if seed % 2:
        _use_other_kernels(perturbing)
    return perturbing


def _use_other_kernels(perturbing: _Perturbing) -> None:
    """Convolution kernels with another summation order; NNPACK is disabled too, since it trades accuracy for speed."""
    mkldnn = torch.backends.mkldnn.enabled
    internals.use_mkldnn(False)
    nnpack = torch.backends.nnpack.set_flags(False)
    perturbing.patches.on_remove(lambda: internals.use_mkldnn(mkldnn))
    perturbing.patches.on_remove(lambda: torch.backends.nnpack.set_flags(*nnpack))
    perturbing.kernels.append("without mkldnn and nnpack")


def _compiled(perturbing: _Perturbing, original: Function) -> Function:
    """A module compiled in place calls no hooks: only its inputs can be perturbed."""

    def compile_in_place(module: nn.Module, *args: object, **kwargs: object) -> None:
        original(module, *args, **kwargs)
        inner: Function = internals.compiled_call(module)

        def call(*args: object, **kwargs: object) -> Value:
            if torch.compiler.is_compiling() or perturbing.quiet():
                return inner(*args, **kwargs)
            if perturbing.begins(module):
                args, kwargs = perturbing.input(args), perturbing.input(kwargs)
            try:
                return inner(*args, **kwargs)
            finally:
                perturbing.ends(module)

        internals.set_compiled_call(module, call)

    return compile_in_place
