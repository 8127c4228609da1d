"""Every call of a module, taken in hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from adapters.numpy_toy import framework

from trueline.adapters.nouns import Around
from trueline.adapters.patching import Patches


@contextmanager
def intercept(around: Around) -> Iterator[None]:
    """In this block every module's call goes through ``around``."""

    def make(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(module: Any, *args: Any, **kwargs: Any) -> Any:
            return around(module, args, kwargs, lambda *given, **named: original(module, *given, **named))

        return call

    patches = Patches()
    patches.wrap(framework.Module, "__call__", make)
    try:
        yield
    finally:
        patches.remove()
