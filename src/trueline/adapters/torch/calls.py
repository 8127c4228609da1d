"""Module calls, told where a module really runs: not while it is compiled, traced or transformed."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from threading import get_ident
from typing import Any

import torch
from torch import nn
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from trueline.adapters.observer import Observer, harmless
from trueline.adapters.patching import Patches, Switch
from trueline.adapters.torch import differentiation
from trueline.adapters.training_thread import TrainingThread
from trueline.model.recursion import ROOM

_COMPILED_WARNING = r"Using `torch\.compile\(module\)` when there are global hooks"
# Where there are hooks, torch calls a module through a function of its own.
_FRAMES = 1
_FUSED_IN_EVALUATION = (nn.TransformerEncoderLayer,)


class _Calls:
    """Pairs calls and returns of one thread; other threads' (replicas of data parallel training) are not told."""

    def __init__(self, observer: Observer, switch: Switch, training: TrainingThread) -> None:
        self.observer = observer
        self._training = training
        self._switch = switch
        self._thread = 0
        self._depth = 0
        self._count = 0
        self._fusing: list[tuple[nn.Module, int]] = []

    def quiet(self, module: nn.Module) -> bool:
        """Whether this call is none of the user's network running."""
        if not self._switch.on or get_ident() in self._switch.fetching:
            return True
        if isinstance(module, _LazyGraphModule) or torch._C._get_tracing_state() is not None:
            return True
        if torch._C._functorch.peek_interpreter_stack() is not None:
            differentiation.called_inside(module)
            self.observer.notice("torch.transformed", module=type(module).__name__)
            return True
        return False

    def begins(self, module: nn.Module) -> bool:
        """A call begins; whether the observer is told of it."""
        if self._depth == 0:
            if not self._training.is_told():
                return False
            self._thread = get_ident()
        elif self._thread != get_ident():
            return False
        self._depth += 1
        self._count += 1
        if isinstance(module, _FUSED_IN_EVALUATION):
            self._fusing.append((module, self._count))
        return self._depth == 1 or self.observer.wants_calls

    def ends(self, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        if self._depth == 0 or self._thread != get_ident():
            return
        self._depth -= 1
        if self._depth == 0 or self.observer.wants_calls:
            self.observer.returned(module, args, kwargs, output)
        if self._fusing and self._fusing[-1][0] is module:
            _, count = self._fusing.pop()
            if count == self._count:
                self.observer.notice("torch.fused", module=type(module).__name__)


def watch(observer: Observer, switch: Switch, patches: Patches, thread: TrainingThread) -> None:
    """Tell every module's calls and returns."""
    calls = _Calls(observer, switch, thread)
    guard = harmless(observer)

    # torch.compile traces through these two: their first line makes them vanish from the compiled graph.
    def before(module: nn.Module, args: Any) -> None:
        if torch.compiler.is_compiling():
            return
        with guard:
            ROOM.enter(_FRAMES)
            if not calls.quiet(module):
                called = _inside(module, observer)
                if calls.begins(called):
                    # torch hands no keyword arguments to global hooks, but the frame that calls this one has them.
                    kwargs = sys._getframe(1).f_locals.get("kwargs") or {}
                    observer.called(called, args, kwargs)

    def after(module: nn.Module, args: Any, *rest: Any) -> None:
        if torch.compiler.is_compiling():
            return
        with guard:
            ROOM.leave(_FRAMES)
            if not calls.quiet(module):
                # After a forward that raised, torch leaves the keyword arguments out.
                calls.ends(_inside(module, observer), args, rest[0] if len(rest) == 2 else {}, rest[-1])

    patches.on_remove(register_module_forward_pre_hook(before).remove)
    patches.on_remove(register_module_forward_hook(after, with_kwargs=True, always_call=True).remove)
    warnings.filterwarnings("ignore", message=_COMPILED_WARNING)

    def make_compile(original: Callable[..., Any]) -> Callable[..., Any]:
        def compile_in_place(module: nn.Module, *args: Any, **kwargs: Any) -> None:
            original(module, *args, **kwargs)
            if switch.on:
                observer.notice("torch.compiled", module=type(module).__name__)
                module._compiled_call_impl = _told(module, module._compiled_call_impl, calls)

        return compile_in_place

    patches.wrap(nn.Module, "compile", make_compile)


def _inside(module: nn.Module, observer: Observer) -> nn.Module:
    """What torch.compile returns stands for the network it has compiled, which is itself never called."""
    if type(module).__name__ == "OptimizedModule":
        inner: nn.Module = module._orig_mod
        observer.notice("torch.compiled", module=type(inner).__name__)
        return inner
    if isinstance(module, torch.jit.ScriptModule):
        observer.notice("torch.scripted", module=module.original_name)
    return module


def _told(module: nn.Module, compiled: Callable[..., Any], calls: _Calls) -> Callable[..., Any]:
    """A module compiled in place calls no hooks at all, not even its own."""

    def call(*args: Any, **kwargs: Any) -> Any:
        if torch.compiler.is_compiling() or calls.quiet(module):
            return compiled(*args, **kwargs)
        with harmless(calls.observer):
            if calls.begins(module):
                calls.observer.called(module, args, kwargs)
        output = None
        try:
            output = compiled(*args, **kwargs)
            return output
        finally:
            with harmless(calls.observer):
                calls.ends(module, args, kwargs, output)

    return call
