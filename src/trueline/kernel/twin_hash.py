"""The fingerprint in NumPy: 64-bit arithmetic that wraps around, over the words of 4096-byte blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trueline.kernel.array import Array
from trueline.kernel.chunks import BLOCK_BYTES

_GOLDEN = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_MASK = (1 << 64) - 1
_SEED = 0x7472756C696E6531
_WORDS = BLOCK_BYTES // 8


def _mix(x: int) -> int:
    x = ((x ^ (x >> 30)) * _FIRST) & _MASK
    x = ((x ^ (x >> 27)) * _SECOND) & _MASK
    return x ^ (x >> 31)


def _mix_all(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_FIRST)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_SECOND)
    return x ^ (x >> np.uint64(31))


_KEYS = np.array([_mix((_SEED + (i + 1) * _GOLDEN) & _MASK) for i in range(_WORDS)], np.uint64)


def hash_blocks(piece: Array, first_block: int) -> int:
    """The sum of the piece's block hashes, the first block being the ``first_block``-th of the array."""
    if not piece.size:
        return 0
    raw = _little_endian(piece)
    whole = raw.size // BLOCK_BYTES
    total = 0
    if whole:
        total = _hash_equal(raw[: whole * BLOCK_BYTES].reshape(whole, BLOCK_BYTES), first_block)
    if raw.size % BLOCK_BYTES:
        rest = raw[whole * BLOCK_BYTES :]
        padded = np.zeros((1, -(-rest.size // 32) * 32), np.uint8)
        padded[0, : rest.size] = rest
        total += _hash_equal(padded, first_block + whole)
    return total & _MASK


def finish_hash(total: int, nbytes: int, kind: int) -> int:
    """The fingerprint from the sum of all block hashes."""
    return _mix((total & _MASK) ^ _mix((nbytes * _GOLDEN + kind + 1) & _MASK))


def _hash_equal(blocks: NDArray[np.uint8], first_block: int) -> int:
    words = blocks.view("<u8").astype(np.uint64, copy=False)
    mixed = words ^ _KEYS[: words.shape[1]]
    products = (mixed & np.uint64(0xFFFFFFFF)) * (mixed >> np.uint64(32)) + words
    lanes = products.reshape(len(words), -1, 4).sum(axis=1, dtype=np.uint64)
    folded = _mix_all(_mix_all(_mix_all(lanes[:, 0]) + lanes[:, 1]) + lanes[:, 2]) + lanes[:, 3]
    places = np.arange(first_block + 1, first_block + 1 + len(words), dtype=np.uint64) * np.uint64(_GOLDEN)
    return int(_mix_all(_mix_all(folded) + places).sum(dtype=np.uint64))


def _little_endian(piece: Array) -> NDArray[np.uint8]:
    little = piece.dtype.newbyteorder("<")
    return piece.astype(little, copy=False).view(np.uint8)
