"""The numbers of an array in a file, however it lies there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from trueline.formats.stored import Array, Stored
from trueline.kernel import Parts, UnsupportedDtype, fingerprint, pieces, summarise
from trueline.model.summary import Summary

_AT_ONCE: Final = 1 << 20


def numbers_of(stored: Stored) -> Summary | None:
    """Its Summary, with no more memory than a piece of it; None for a type that is not measured."""
    elements = _measurable(stored.elements())
    try:
        return summarise(elements)
    except UnsupportedDtype:
        return None


def mark_of(stored: Stored) -> int | None:
    """The fingerprint of an array that lies in one piece: equal elements have equal ones."""
    if stored.member is not None or len(stored.segments) != 1:
        return None
    try:
        return fingerprint(stored.array())
    except UnsupportedDtype:
        return None


def _measurable(x: Array | Parts) -> Array | Parts:
    """The 8-bit floats, which the kernel does not read, all fit into float32."""
    if not str(x.dtype).startswith("float8"):
        return x
    return Parts(x.shape, np.dtype(np.float32), lambda: _widened(pieces(x, _AT_ONCE)))


def _widened(parts: Iterator[Array]) -> Iterator[Array]:
    for part in parts:
        yield part.astype(np.float32)
