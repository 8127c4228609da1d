"""Interception of every cell call; op by op only, since a compiled graph calls no cell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mindspore import nn

from trueline.adapters.nouns import Around, Function, Network, Value
from trueline.adapters.patching import Patches


@contextmanager
def intercept(around: Around) -> Iterator[None]:
    """In this block every cell call goes through ``around``."""

    def make(original: Function) -> Function:
        def call(cell: Network, *args: object, **kwargs: object) -> Value:
            def proceed(*given: object, **named: object) -> Value:
                return original(cell, *given, **named)

            return around(cell, args, kwargs, proceed)

        return call

    patches = Patches()
    patches.wrap(nn.Cell, "__call__", make)
    try:
        yield
    finally:
        patches.remove()
