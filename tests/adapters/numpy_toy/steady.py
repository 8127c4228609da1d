"""Dropout made identity."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from adapters.numpy_toy import framework

from trueline.adapters.patching import Patches


def work_in_order() -> None:
    """It has no threads."""


@contextmanager
def without_dropout(root: Any) -> Iterator[None]:
    """In this block dropout returns what it is given."""
    patches = Patches()
    patches.wrap(framework.Dropout, "forward", lambda _: lambda _module, value: value)
    try:
        yield
    finally:
        patches.remove()
