"""An array as contiguous native pieces in C order, with no more memory than one piece."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from trueline.kernel.array import Array, DType

BLOCK_BYTES = 4096
SEGMENT_BYTES = 256 * BLOCK_BYTES
SEGMENT_PAIRS = 256 * 1024
CHUNK_SEGMENTS = 8
MANY_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Parts:
    """An array in C order that is nowhere whole: ``open`` begins its flat parts, of any sizes, anew each time."""

    shape: tuple[int, ...]
    dtype: DType
    open: Callable[[], Iterator[Array]]
    flags: ClassVar[SimpleNamespace] = SimpleNamespace(c_contiguous=False, aligned=False, writeable=False)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes they take."""
        return self.size * self.dtype.itemsize


Elements: TypeAlias = Array | Parts


def is_plain(x: Elements) -> bool:
    """The array's memory can be read as it lies."""
    flags = x.flags
    return bool(flags.c_contiguous and flags.aligned and x.dtype.isnative)


def pieces(x: Elements, size: int) -> Iterator[Array]:
    """The elements in C order, ``size`` at a time; copied only where the memory is not plain."""
    if isinstance(x, Parts):
        yield from _of_size((piece for part in x.open() for piece in pieces(part, size)), size)
    elif is_plain(x):
        flat = x.reshape(-1)
        for start in range(0, flat.size, size):
            yield flat[start : start + size]
    elif x.size <= size:
        yield np.array(x, x.dtype.newbyteorder("="), order="C").reshape(-1)
    else:
        if x.dtype.name == "bfloat16":
            x = x.view("=u2" if x.dtype.isnative else np.dtype("u2").newbyteorder("S"))
        flags: Any = [["readonly", "contig", "nbo", "aligned"]]
        parts: Any = np.nditer(
            x,
            flags=["external_loop", "buffered"],
            op_flags=flags,
            op_dtypes=[x.dtype.newbyteorder("=")],
            order="C",
            casting="equiv",
            buffersize=size,
        )
        yield from _of_size(parts, size)


def _of_size(parts: Iterable[Array], size: int) -> Iterator[Array]:
    """Parts of any size put together to pieces of one size: NumPy 2 hands out whole inner dimensions only."""
    held: Array | None = None
    filled = 0
    for part in parts:
        if not filled and part.size == size:
            yield part
            continue
        if held is None:
            held = np.empty(size, part.dtype)
        taken = 0
        while taken < part.size:
            more = min(size - filled, part.size - taken)
            held[filled : filled + more] = part[taken : taken + more]
            taken += more
            filled += more
            if filled == size:
                yield held
                filled = 0
    if held is not None and filled:
        yield held[:filled]


def thread_count(nbytes: int, threads: int | None) -> int:
    """The threads to use: as asked, else every core of this process once the work is worth it."""
    if threads is not None:
        return max(1, threads)
    if nbytes < MANY_BYTES:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
