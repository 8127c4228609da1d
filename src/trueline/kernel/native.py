"""The native code through ctypes, which lets other threads run meanwhile."""

from __future__ import annotations

import ctypes
import struct
import threading
from typing import Any

import numpy as np

from trueline.kernel.array import Array
from trueline.kernel.chunks import (
    BLOCK_BYTES,
    CHUNK_SEGMENTS,
    SEGMENT_BYTES,
    SEGMENT_PAIRS,
    Elements,
    is_plain,
    pieces,
    thread_count,
)
from trueline.kernel.dtypes import ITEM_SIZE
from trueline.kernel.library import choose_lanes, is_loaded
from trueline.kernel.library import library as _library
from trueline.kernel.state import DistanceState, RowStats, SummaryNumbers, SummaryState, Tolerance
from trueline.kernel.stopping import stopping

__all__ = ["choose_lanes", "describe_rows", "distance_state", "fingerprint", "is_loaded", "summary_state"]

# A whole number of segments, so that the sums are those of the array in one go.
STRIDE = 32 * SEGMENT_PAIRS
_SUMMARY = struct.Struct("=5Q5dQ")
_DISTANCE = struct.Struct("=7Qq8d")
_HASH = struct.Struct("=Q")
_TOLERANCE = struct.Struct("=5d")


class _Memory(threading.local):
    """The structs of one thread, made once: a small tensor's call must not pay for them."""

    def __init__(self) -> None:
        self.state = ctypes.create_string_buffer(_DISTANCE.size)
        self.tolerance = ctypes.create_string_buffer(_TOLERANCE.size)
        self.state_at = ctypes.addressof(self.state)
        self.tolerance_at = ctypes.addressof(self.tolerance)


_memory = _Memory()


def _expect(result: int) -> None:
    if result:
        raise MemoryError


def _address(x: Any) -> int:
    # ndarray.ctypes costs more than the kernel's work on a small tensor; the buffer way is open to most arrays.
    if x.flags.writeable and x.size and x.dtype.kind != "V":
        return ctypes.addressof(ctypes.c_char.from_buffer(x))
    return int(x.ctypes.data)


def summary_state(x: Elements, kind: int, scale: float, threads: int | None) -> SummaryNumbers:
    """One array's numbers; the finite elements count times ``scale``."""
    memory, flags, nbytes = _memory, x.flags, x.nbytes
    threads = 1 if nbytes < SEGMENT_BYTES else thread_count(nbytes, threads)
    if scale == 1.0 and flags.c_contiguous and flags.aligned and x.dtype.isnative:
        if _library.tl_summary_whole(_address(x), x.size, kind, threads, memory.state_at):
            raise MemoryError
        return _SUMMARY.unpack_from(memory.state)
    _library.tl_summary_start(memory.state_at)
    block = 0
    for piece in pieces(x, CHUNK_SEGMENTS * SEGMENT_BYTES // ITEM_SIZE[kind]):
        data = piece.ctypes.data
        _expect(_library.tl_summary_add(data, piece.size, kind, block, scale, threads, memory.state_at))
        block += piece.nbytes // BLOCK_BYTES
    *numbers, hashed = _SUMMARY.unpack_from(memory.state)
    return SummaryState._make((*numbers, _library.tl_hash_finish(hashed, nbytes, kind)))


def fingerprint(x: Elements, kind: int, threads: int | None) -> int:
    """The fingerprint alone."""
    memory, nbytes = _memory, x.nbytes
    threads = thread_count(nbytes, threads)
    _HASH.pack_into(memory.state, 0, 0)
    block = 0
    if is_plain(x):
        _expect(_library.tl_hash_add(_address(x), nbytes, 0, threads, memory.state_at))
    else:
        for piece in pieces(x, CHUNK_SEGMENTS * SEGMENT_BYTES // ITEM_SIZE[kind]):
            _expect(_library.tl_hash_add(piece.ctypes.data, piece.nbytes, block, threads, memory.state_at))
            block += piece.nbytes // BLOCK_BYTES
    return int(_library.tl_hash_finish(_HASH.unpack_from(memory.state)[0], nbytes, kind))


def describe_rows(x: Array, kind: int) -> RowStats:
    """Every row's numbers; the rows lie plainly in memory."""
    rows = x.shape[0]
    fingerprints = np.empty(rows, np.uint64)
    mean, std, minimum, maximum = np.empty((4, rows), np.float32)
    row_count = x.size // rows if rows else 0
    targets = (one.ctypes.data for one in (fingerprints, mean, std, minimum, maximum))
    _library.tl_describe_rows(x.ctypes.data, rows, row_count, kind, *targets)
    return RowStats(fingerprints, mean, std, minimum, maximum)


def _in_a_row(x: Elements) -> bool:
    """The elements follow each other in memory, at whatever address."""
    return bool(x.flags.c_contiguous and x.dtype.isnative)


def distance_state(
    a: Elements, kind_a: int, b: Elements, kind_b: int, by: Tolerance, threads: int | None
) -> DistanceState:
    """Two arrays' numbers, element by element in C order."""
    memory = _memory
    tolerance, state = memory.tolerance_at, memory.state_at
    threads = thread_count(a.nbytes + b.nbytes, threads)
    _TOLERANCE.pack_into(memory.tolerance, 0, *by)
    _library.tl_distance_start(state)
    if _in_a_row(a) and _in_a_row(b):
        at_a, at_b, count = _address(a), _address(b), a.size
        # A stride at a time: between two of them Python hears of Ctrl-C.
        for offset in range(0, count, STRIDE):
            stopping.heed()
            more = min(STRIDE, count - offset)
            here, there = at_a + offset * ITEM_SIZE[kind_a], at_b + offset * ITEM_SIZE[kind_b]
            _expect(_library.tl_distance_add(here, kind_a, there, kind_b, more, offset, tolerance, threads, state))
    else:
        size, offset = CHUNK_SEGMENTS * SEGMENT_PAIRS, 0
        for left, right in zip(pieces(a, size), pieces(b, size), strict=True):
            stopping.heed()
            at_a, at_b, count = left.ctypes.data, right.ctypes.data, left.size
            _expect(_library.tl_distance_add(at_a, kind_a, at_b, kind_b, count, offset, tolerance, threads, state))
            offset += count
    return DistanceState._make(_DISTANCE.unpack_from(memory.state))
