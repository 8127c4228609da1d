"""Dropout made identity."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from adapters.numpy_toy import framework

from trueline.adapters.dropout import Dropping, nothing
from trueline.adapters.nouns import Instead, Share
from trueline.adapters.patching import Patches


def work_in_order() -> None:
    """It has no threads."""


@contextmanager
def without_dropout(root: Any, share: Share = nothing, instead: Instead | None = None) -> Iterator[None]:
    """In this block dropout drops what ``share`` makes of its share."""
    patches = Patches()
    patches.wrap(framework.Dropout, "forward", Dropping(share, lambda _: {}, instead).module(framework.dropout))
    try:
        yield
    finally:
        patches.remove()
