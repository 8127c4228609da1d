"""Every call of a module, taken in hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from trueline.adapters.nouns import Around
from trueline.adapters.patching import Patches
from trueline.adapters.torch.build import as_written


@contextmanager
def intercept(around: Around) -> Iterator[None]:
    """In this block every module's call goes through ``around``; modules torch would fuse are called one by one."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            def proceed(*given: Any, **named: Any) -> Any:
                return original(module, *given, **named)

            return around(module, args, kwargs, proceed)

        return call

    patches = Patches()
    patches.wrap(nn.Module, "__call__", make)
    fused = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        # A graph calls no module.
        with as_written():
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fused)
        patches.remove()
