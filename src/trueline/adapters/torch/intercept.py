"""Interception of every module call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from trueline.adapters.nouns import Around, Function, Network, Value
from trueline.adapters.patching import Patches
from trueline.adapters.torch.build import as_written


@contextmanager
def intercept(around: Around) -> Iterator[None]:
    """In this block every module call goes through ``around``; torch's fused fast paths are disabled."""

    def make(original: Function) -> Function:
        def call(module: Network, *args: object, **kwargs: object) -> Value:
            def proceed(*given: object, **named: object) -> Value:
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
