"""How far long work has come: one line on stderr, in a terminal only, and only once it takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from trueline.model.message import Message

_PATIENCE = 1.0
_EVERY = 0.2


@contextmanager
def bytes_progress(what: Message) -> Iterator[Callable[[int], None] | None]:
    """Hands out what is to be told of bytes that are done; the line is wiped at the end."""
    if not sys.stderr.isatty():
        yield None
        return
    began = shown = time.monotonic()
    done, drawn = 0, False

    def tell(more: int) -> None:
        nonlocal done, shown, drawn
        done += more
        now = time.monotonic()
        if now - began > _PATIENCE and now - shown > _EVERY:
            shown, drawn = now, True
            rate = done / (now - began)
            sys.stderr.write(f"\r\x1b[K{what.text()}: {done / 1e9:.2f} GB, {rate / 1e9:.2f} GB/s")
            sys.stderr.flush()

    try:
        yield tell
    finally:
        if drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
