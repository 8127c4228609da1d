"""Watching a training run without changing the user's script."""

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

from trueline.adapters.patching import Patches, Switch
from trueline.adapters.protocol import Installed, Observer
from trueline.adapters.torch import build, data, training

_COMPILED_WARNING = r"Using `torch\.compile\(module\)` when there are global hooks"


class _Hooks:
    def __init__(self) -> None:
        self.switch = Switch()
        self.patches = Patches()

    def remove(self) -> None:
        self.switch.on = False
        self.patches.remove()


def install(observer: Observer) -> Installed:
    """Tell the observer of everything that happens from now on."""
    hooks = _Hooks()
    build.capture_built()
    _watch_calls(observer, hooks)
    training.watch(observer, hooks.switch, hooks.patches)
    data.watch(observer, hooks.switch, hooks.patches)
    return hooks


def _watch_calls(observer: Observer, hooks: _Hooks) -> None:
    switch = hooks.switch
    depth = 0
    thread = 0

    # torch.compile traces through these: the first line makes them vanish from the compiled graph, and keeps the
    # graphs that a compiler has made (which are modules too) out of the user's network. While one thread is inside a
    # module, calls of another one (replicas of data parallel training) are not told.
    def before(module: nn.Module, args: Any) -> None:
        if torch.compiler.is_compiling() or not switch.on or isinstance(module, _LazyGraphModule):
            return
        nonlocal depth, thread
        if depth == 0:
            thread = get_ident()
        elif thread != get_ident():
            return
        depth += 1
        if depth == 1 or observer.wants_calls:
            # torch hands no keyword arguments to global hooks, but the frame that calls this one has them.
            observer.called(module, args, sys._getframe(1).f_locals.get("kwargs") or {})

    def after(module: nn.Module, args: Any, *rest: Any) -> None:
        if torch.compiler.is_compiling() or not switch.on or isinstance(module, _LazyGraphModule):
            return
        nonlocal depth
        if depth == 0 or thread != get_ident():
            return
        depth -= 1
        if depth == 0 or observer.wants_calls:
            # After a forward that raised, torch leaves the keyword arguments out.
            observer.returned(module, args, rest[0] if len(rest) == 2 else {}, rest[-1])
        if type(module).__name__ == "OptimizedModule":
            observer.notice("torch.compiled", module=type(module._orig_mod).__name__)
        elif isinstance(module, torch.jit.ScriptModule) and depth == 0:
            observer.notice("torch.scripted", module=module.original_name)

    pre = register_module_forward_pre_hook(before)
    post = register_module_forward_hook(after, with_kwargs=True, always_call=True)
    hooks.patches.on_remove(pre.remove)
    hooks.patches.on_remove(post.remove)
    warnings.filterwarnings("ignore", message=_COMPILED_WARNING)


def on_gradient(tensor: Any, tell: Callable[[Any], None]) -> None:
    """Tell the gradient that arrives at a tensor in this step's backward; silent where none will."""
    if tensor.requires_grad:
        tensor.register_hook(lambda gradient: tell(gradient))
