from __future__ import annotations

import math
import struct

import ml_dtypes
import numpy as np
import pytest

from trueline.kernel import fingerprint, summarise

KNOWN = {"float32": 0x93BC629619633369, "int64": 0xB3C1E9CA13B7F101, "empty": 0xD7F030FC3E74BEDA}


def test_the_fingerprint_of_a_summary_is_the_fingerprint() -> None:
    rng = np.random.default_rng(0)
    for size in (0, 1, 7, 8, 9, 1023, 1024, 1025, 300_001):
        x = rng.standard_normal(size).astype(np.float32)
        assert fingerprint(x) == summarise(x).fingerprint
        assert fingerprint(x[::-1]) == summarise(x[::-1].copy()).fingerprint


def test_fingerprints_stay_what_they_are() -> None:
    """Recorded runs keep them: another value here is a new version of the run folder."""
    assert fingerprint(np.arange(3000, dtype=np.float32)) == KNOWN["float32"]
    assert fingerprint(np.arange(3000, dtype=np.int64)) == KNOWN["int64"]
    assert fingerprint(np.zeros(0, np.uint8)) == KNOWN["empty"]


def test_every_bit_counts() -> None:
    raw = np.random.default_rng(1).integers(0, 256, 4096 + 45, dtype=np.uint8)
    seen = {fingerprint(raw)}
    for byte in range(raw.size):
        bit = 1 << byte % 8
        raw[byte] ^= bit
        seen.add(fingerprint(raw))
        raw[byte] ^= bit
    assert len(seen) == raw.size + 1


@pytest.mark.parametrize("fill", [0, 1, 255])
def test_every_bit_counts_in_a_constant_array(fill: int) -> None:
    raw = np.full(4096 * 2 + 24, fill, np.uint8)
    seen = set()
    for bit in range(0, raw.size * 8, 61):
        raw[bit // 8] ^= 1 << bit % 8
        seen.add(fingerprint(raw))
        raw[bit // 8] ^= 1 << bit % 8
    assert len(seen) == len(range(0, raw.size * 8, 61))


def test_order_counts() -> None:
    x = np.random.default_rng(2).standard_normal(8192).astype(np.float32)
    seen = {fingerprint(x)}
    for i in range(2000):
        y = x.copy()
        y[[i, i + 1]] = y[[i + 1, i]]
        seen.add(fingerprint(y))
    blocks = x.reshape(8, 1024)
    for i in range(1, 8):
        seen.add(fingerprint(np.roll(blocks, i, axis=0)))
    for i in (4, 8, 16, 512):
        seen.add(fingerprint(np.roll(x, i)))
    assert len(seen) == 1 + 2000 + 7 + 4


def test_a_change_spreads_over_all_bits() -> None:
    x = np.zeros(2000, np.float32)
    first = fingerprint(x)
    flips = []
    for i in range(2000):
        x[i] = 1e-45
        flips.append(bin(fingerprint(x) ^ first).count("1"))
        x[i] = 0
    assert 30 < np.mean(flips) < 34
    assert min(flips) > 8


def test_length_and_type_count_and_shape_does_not() -> None:
    zeros = {fingerprint(np.zeros(n, np.uint8)) for n in range(200)}
    assert len(zeros) == 200
    names = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16", ml_dtypes.bfloat16]
    assert len({fingerprint(np.zeros(64, np.uint8).view(one)) for one in names}) == len(names)
    assert fingerprint(np.arange(6.0).reshape(2, 3)) == fingerprint(np.arange(6.0))


def test_bytes_count_not_values() -> None:
    assert fingerprint([0.0]) != fingerprint([-0.0])
    payload = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000123))[0]
    assert fingerprint([math.nan]) != fingerprint(np.array([payload]))
    assert fingerprint([math.nan]) == fingerprint([math.nan])


def test_byte_order_does_not_count() -> None:
    x = np.arange(5000, dtype="<f4")
    assert fingerprint(x) == fingerprint(x.astype(">f4"))


def test_threads_do_not_count() -> None:
    x = np.random.default_rng(3).standard_normal(2_000_003)
    assert fingerprint(x, threads=1) == fingerprint(x, threads=2) == fingerprint(x)
